public import HTTP
import Platform
import Tasks
import Tokens

/// The application as one request handler: what a person, a browser or a sample client may ask, and what it gets.
///
/// The order in which a request passes: log, headers that every answer carries, preflight, credentials, routing,
/// then the task routes. It blocks nowhere; where the store or the keys need time, it awaits.
public final class TaskAPI: RequestHandler {
    private let configuration: TaskAPIConfiguration
    private let authentication: BearerAuthentication
    private let routes: TaskRoutes
    private let publicAnswers: PublicAnswers
    private let dressing: ResponseDressing

    /// The API of this configuration.
    public init(_ configuration: TaskAPIConfiguration) {
        self.configuration = configuration
        authentication = BearerAuthentication(configuration)
        routes = TaskRoutes(configuration: configuration)
        publicAnswers = PublicAnswers(configuration)
        dressing = ResponseDressing(configuration)
    }

    /// See ``RequestHandler``.
    public func decide(on head: RequestHead) async -> Decision {
        let route = Route(path: head.target.path)
        let trail = RequestTrail(head: head, route: route, started: configuration.time.monotonicNanoseconds)
        let decision: Decision
        do throws(APIFailure) {
            decision = try await decide(on: head, route, trail)
        } catch {
            decision = .respond(refuse(error, head, trail))
        }
        switch decision {
        case .respond(let response): return .respond(finish(response, head, trail))
        case .readBody(let limit, let work):
            return .readBody(limit: limit) { [self] in finish(await work($0), head, trail) }
        }
    }

    private func decide(
        on head: RequestHead, _ route: Route, _ trail: RequestTrail
    ) async throws(APIFailure) -> Decision {
        if head.method == .options { return .respond(dressing.options(head, route)) }
        guard route.isProtected else { return .respond(try await publicAnswers.answer(head, route)) }
        let principal = try await authentication.principal(of: head)
        let owner = Owner(principal.owner)
        trail.owner = owner
        guard route.methods.contains(head.method) else {
            throw route.methods.isEmpty ? .nothingHere : .methodNotAllowed(route.methods)
        }
        try authentication.checkScope(of: principal, for: head.method)
        switch (route, head.method) {
        case (.tasks, .get), (.tasks, .head), (.tasksOfNamedOwner, .get), (.tasksOfNamedOwner, .head):
            return .respond(try await routes.list(head, of: owner))
        case (.task(let id), .get), (.task(let id), .head):
            guard let id else { throw .state(.noSuchTask) }
            return .respond(try await routes.find(id, head, of: owner))
        case (.task(let id), .delete):
            guard let id else { return .respond(Response(204)) }
            return .respond(try await routes.remove(id, of: owner))
        case (.me, _):
            return .respond(PrincipalAnswer.answer(principal))
        default:
            return .readBody(limit: configuration.bodyLimit) { [self] body in
                do throws(APIFailure) {
                    return try await change(head, route, body: body, of: owner)
                } catch {
                    return refuse(error, head, trail)
                }
            }
        }
    }

    /// What changes tasks by a body, or may.
    private func change(
        _ head: RequestHead, _ route: Route, body: [UInt8], of owner: Owner
    ) async throws(APIFailure) -> Response {
        switch (route, head.method) {
        case (.tasks, .post):
            return try await routes.add(nil, head, body: body, of: owner)
        case (.taskByText(let text), .post):
            return try await routes.add(try Self.text(text), head, body: body, of: owner)
        case (.task(let id?), .put), (.task(let id?), .patch):
            return try await routes.change(id, head, body: body, of: owner)
        case (.task(nil), .put), (.task(nil), .patch):
            throw .state(.noSuchTask)
        case (.taskByText(let text), .delete):
            return try await routes.removeAll(try Self.text(text), head, body: body, of: owner)
        case (.tasks, .delete), (.tasksOfNamedOwner, .delete):
            return try await routes.removeAll(nil, head, body: body, of: owner)
        default:
            throw .methodNotAllowed(route.methods)
        }
    }

    private static func text(_ segment: String) throws(APIFailure) -> TaskText {
        do {
            return try TaskText(segment)
        } catch {
            throw .input(.text(error))
        }
    }

    private func refuse(_ failure: APIFailure, _ head: RequestHead, _ trail: RequestTrail) -> Response {
        let refused = failure.tokenRefusal.flatMap { _ in
            RefusedToken(
                of: head, allowQuery: configuration.allowQueryToken, fingerprint: configuration.fingerprint)
        }
        trail.note(failure, refusedToken: refused)
        return failure.problem.response(for: head)
    }

    private func finish(_ response: Response, _ head: RequestHead, _ trail: RequestTrail) -> Response {
        let dressed = dressing.dress(response, head, trail.route)
        configuration.observe(trail.record(dressed, at: configuration.time.monotonicNanoseconds))
        return dressed
    }
}
