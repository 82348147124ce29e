package import HTTP
import Platform
import Tasks
import Tokens

/// The application as one request handler: what a person, a browser or a sample client may ask, and what it gets.
///
/// The order in which a request passes: log, headers that every answer carries, preflight, credentials, routing,
/// then the task routes. What is at hand (a token seen before, a list in memory) is answered at once; where the store or
/// the keys need time, the rest of the way is a ``HTTP/Decision/later(_:)``.
package final class TaskAPI: RequestHandler {
    private let configuration: TaskAPIConfiguration
    private let authentication: BearerAuthentication
    private let routes: TaskRoutes
    private let publicAnswers: PublicAnswers
    private let dressing: ResponseDressing

    /// The API of this configuration.
    package init(_ configuration: TaskAPIConfiguration) {
        self.configuration = configuration
        authentication = BearerAuthentication(configuration)
        routes = TaskRoutes(configuration)
        publicAnswers = PublicAnswers(configuration)
        dressing = ResponseDressing(configuration)
    }

    /// See ``RequestHandler``.
    package func decide(on head: RequestHead) -> Decision {
        let route = Route(path: head.target.path)
        let trail = RequestTrail(head: head, route: route, started: configuration.time.monotonicNanoseconds)
        if head.method == .options { return answer(dressing.options(head, route), trail) }
        guard route.isProtected else {
            return attempt(trail) { () throws(APIFailure) in
                if let response = try publicAnswers.answer(head, route) { return answer(response, trail) }
                return later(trail) { [self] in await publicAnswers.answerOnReadiness() }
            }
        }
        return attempt(trail) { () throws(APIFailure) in
            let token = try authentication.token(of: head)
            if let principal = authentication.remembered(token) { return try decide(for: principal, trail) }
            return .later { [self] in await decide(by: token, trail) }
        }
    }

    private func decide(by token: String, _ trail: RequestTrail) async -> Decision {
        do throws(APIFailure) {
            return try decide(for: try await authentication.verify(token), trail)
        } catch {
            return refuse(error, trail)
        }
    }

    private func decide(for principal: Principal, _ trail: RequestTrail) throws(APIFailure) -> Decision {
        let (head, route) = (trail.head, trail.route)
        try authentication.admit(principal)
        let owner = Owner(principal.owner)
        trail.owner = owner
        guard route.methods.contains(head.method) else {
            throw route.methods.isEmpty ? .nothingHere : .methodNotAllowed(route.methods)
        }
        try authentication.checkScope(of: principal, for: head.method)
        switch (route, head.method) {
        case (.tasks, .get), (.tasks, .head), (.tasksOfNamedOwner, .get), (.tasksOfNamedOwner, .head):
            if let response = routes.cachedList(head, of: owner) { return answer(response, trail) }
            return later(trail, try routes.list(head, of: owner))
        case (.task(let id), .get), (.task(let id), .head):
            guard let id else { throw .state(.noSuchTask) }
            return later(trail, routes.find(id, head, of: owner))
        case (.task(let id), .delete):
            guard let id else { return answer(Response(204), trail) }
            return later(trail, routes.remove(id, of: owner))
        case (.me, _):
            return answer(PrincipalAnswer.answer(principal), trail)
        default:
            return .readBody(limit: configuration.bodyLimit) { [self] body in
                attempt(trail) { () throws(APIFailure) in later(trail, try change(trail, body: body, of: owner)) }
            }
        }
    }

    /// What changes tasks by a body, or may.
    private func change(
        _ trail: RequestTrail, body: [UInt8], of owner: Owner
    ) throws(APIFailure) -> TaskRoutes.Work {
        let (head, route) = (trail.head, trail.route)
        switch (route, head.method) {
        case (.tasks, .post):
            return try routes.add(nil, head, body: body, of: owner)
        case (.taskByText(let text), .post):
            return try routes.add(try Self.text(text), head, body: body, of: owner)
        case (.task(let id?), .put), (.task(let id?), .patch):
            return try routes.change(id, head, body: body, of: owner)
        case (.task(nil), .put), (.task(nil), .patch):
            throw .state(.noSuchTask)
        case (.taskByText(let text), .delete):
            return try routes.removeAll(try Self.text(text), head, body: body, of: owner)
        case (.tasks, .delete), (.tasksOfNamedOwner, .delete):
            return try routes.removeAll(nil, head, body: body, of: owner)
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
}

// The three ways to an answer: at once, perhaps a refusal, and when there has been a wait.
extension TaskAPI {
    private func answer(_ response: Response, _ trail: RequestTrail) -> Decision {
        let dressed = dressing.dress(response, trail.head, trail.route)
        configuration.observe(trail.record(dressed, at: configuration.time.monotonicNanoseconds))
        return .respond(dressed)
    }

    private func attempt(_ trail: RequestTrail, _ decide: () throws(APIFailure) -> Decision) -> Decision {
        do throws(APIFailure) {
            return try decide()
        } catch {
            return refuse(error, trail)
        }
    }

    private func later(_ trail: RequestTrail, _ work: @escaping TaskRoutes.Work) -> Decision {
        .later { [self] in
            do throws(APIFailure) {
                return answer(try await work(), trail)
            } catch {
                return refuse(error, trail)
            }
        }
    }

    private func refuse(_ failure: APIFailure, _ trail: RequestTrail) -> Decision {
        let refused = failure.tokenRefusal.flatMap { _ in
            RefusedToken(
                of: trail.head, allowQuery: configuration.allowQueryToken, fingerprint: configuration.fingerprint)
        }
        trail.note(failure, refusedToken: refused)
        return answer(failure.problem.response(for: trail.head), trail)
    }
}
