import Basics
package import HTTP
import Platform
import Tasks
import Tokens

/// The application as one request handler, for people, browsers and the sample clients.
///
/// A request passes in this order: its route, preflight, credentials, rate, method, scope, the handler of its route
/// (see ``Route``), the common headers, the record for the log. If the store or the keys need
/// time, the request waits for them on its way.
package final class TaskAPI: RequestHandler {
    private let configuration: TaskAPIConfiguration
    private let authentication: BearerAuthentication
    package let routes: RouteTable
    private let pages: PublicHandlers
    package let streams: ChangeStreams
    private let commonHeaders: CommonHeaders
    private let resourceParameter: String?

    package init(_ configuration: TaskAPIConfiguration) {
        self.configuration = configuration
        authentication = BearerAuthentication(configuration)
        pages = PublicHandlers(configuration)
        streams = ChangeStreams(configuration, authentication)
        routes = RouteTable(TaskHandlers(configuration, streams), pages, below: configuration.base)
        commonHeaders = CommonHeaders(configuration)
        resourceParameter = ProtectedResource(configuration).challengeParameter
    }

    package func decide(on head: RequestHead) -> Decision {
        let match = routes.match(head.target)
        let request = APIRequest(head, match, started: configuration.time.monotonicNanoseconds)
        if head.method == .options {
            let methods = (match.route == .unknownBelowAPI ? routes[.tasks] : match.definition).methods
            return respond(commonHeaders.options(head, allowed: methods), to: request)
        }
        return refusingFailures(of: request) { () throws(APIFailure) in
            switch match.definition.access {
            case .open(let handler):
                try checkMethod(ofOpen: request)
                return decision(try handler(request), on: request)
            case .token:
                let token = try authentication.token(of: head)
                switch try authentication.verify(token) {
                case .verified(let principal): return try decide(request, principal)
                case .waiting(let rest):
                    return task(for: request) { [self] () async throws(APIFailure) in
                        try decide(request, try await authentication.principal(of: token, after: rest))
                    }
                }
            }
        }
    }

    private func checkMethod(ofOpen request: APIRequest) throws(APIFailure) {
        guard request.head.method != .get, request.head.method != .head else { return }
        if request.match.route == .file, !pages.hasFile(request) { throw .nothingHere }
        throw .methodNotAllowed(request.match.definition.methods)
    }

    private func decide(_ request: APIRequest, _ principal: Principal) throws(APIFailure) -> Decision {
        let owner = Owner(principal.owner)
        try authentication.admit(owner, request)
        (request.owner, request.issued, request.expiry) = (owner, principal.issued * 1000, principal.expiry)
        let route = request.match.definition
        guard let operation = route.operation(request.head.method) else {
            throw route.methods.isEmpty ? .nothingHere : .methodNotAllowed(route.methods)
        }
        try authentication.check(operation.scope, of: principal)
        switch operation.handler {
        case .ofPrincipal(let handler): return decision(handler(principal), on: request)
        case .withoutBody(let handler): return decision(try handler(request, owner), on: request)
        case .withBody(let handler):
            guard request.head.headers.hasPlainBody else { throw .input(.contentCoding) }
            return .readBody(limit: configuration.bodyLimit) { [self] body in
                refusingFailures(of: request) { () throws(APIFailure) in
                    decision(try handler(request, owner, body), on: request)
                }
            }
        }
    }
}

// From the result of a handler, or a failure, to a decision.
extension TaskAPI {
    private func decision(_ result: consuming HandlerResult, on request: APIRequest) -> Decision {
        switch consume result {
        case .ready(let response): return respond(response, to: request)
        case .calling(let begin):
            return .wait { [self] resume in
                begin { rest in
                    resume { [self] in
                        refusingFailures(of: request) { () throws(APIFailure) in decision(try rest(), on: request) }
                    }
                }
            }
        case .pending(let finish):
            return task(for: request) { [self] () async throws(APIFailure) in
                decision(try await finish(), on: request)
            }
        }
    }

    private func task(
        for request: APIRequest, _ decide: @escaping @Sendable () async throws(APIFailure) -> Decision
    ) -> Decision {
        .later { [self] in
            do throws(APIFailure) { return try await decide() } catch { return refuse(request, error) }
        }
    }

    private func refusingFailures(
        of request: APIRequest, _ decide: () throws(APIFailure) -> Decision
    ) -> Decision {
        do throws(APIFailure) { return try decide() } catch { return refuse(request, error) }
    }

    private func refuse(_ request: APIRequest, _ failure: APIFailure) -> Decision {
        let problem = failure.problem
        // Nobody gets this answer, and the server counts the clients who leave.
        if case .state(.store(.withdrawn)) = failure { return .respond(response(to: failure, problem, of: request)) }
        let token = failure.tokenRefusal.map { refusal in
            // The whole configuration would hold the observer, which may keep the record and with it this closure.
            {
                @Sendable [
                    head = request.head, allowQuery = configuration.allowQueryToken, examine = configuration.examine
                ] () -> RefusedToken? in
                guard case .token(let token) = BearerCredentials(of: head, allowQuery: allowQuery) else { return nil }
                return examine(String(decoding: token, as: UTF8.self), refusal)
            }
        }
        request.note(problem, failure.tokenRefusal, token)
        return respond(response(to: failure, problem, of: request), to: request)
    }

    /// A problem; a 401 also says where the metadata of the protected resource are (P-35).
    private func response(to failure: APIFailure, _ problem: Problem, of request: APIRequest) -> Response {
        if case .nothingHere = failure, let page = pages.missingPage(for: request) { return page }
        // Answers of protected routes have a common one.
        let cacheControl = request.match.definition.isProtected ? nil : "no-store"
        var response = problem.response(
            for: request.head, isOld: request.match.path.isOld, cacheControl: cacheControl, below: configuration.base)
        if response.status == 401, let parameter = resourceParameter,
            let challenge = response.headers["WWW-Authenticate"]
        {
            response.headers.set("WWW-Authenticate", "\(challenge), \(parameter)")
        }
        return response
    }

    private func respond(_ response: consuming Response, to request: APIRequest) -> Decision {
        commonHeaders.add(to: &response, for: request)
        configuration.observe(request.record(response, at: configuration.time.monotonicNanoseconds))
        return .respond(response)
    }
}

/// One request on its way through the API: its head, its route, and what its record needs.
final class APIRequest: @unchecked Sendable {
    // This is sendable, because `decide` and the closure that it returns run one after the other, never at once, and
    // the server's hand-over between them orders the memory. It is a class, because the closure continues where
    // `decide` stopped.
    let head: RequestHead
    let match: RouteMatch
    private let started: UInt64
    /// The person, once the token was verified.
    var owner: Owner?
    /// When the token was issued, in milliseconds since 1970.
    var issued: Int64 = 0
    /// When the token expires, in seconds since 1970.
    var expiry: Int64 = 0
    /// The remaining requests of the person, if requests are limited.
    var rate: RateState?
    private var problem: String?
    private var refusal: TokenRefusal?
    private var refusedToken: (@Sendable () -> RefusedToken?)?

    /// A request whose head was in at this monotonic time, in nanoseconds.
    init(_ head: RequestHead, _ match: RouteMatch, started: UInt64) {
        self.head = head
        self.match = match
        self.started = started
    }

    func note(_ problem: Problem, _ refusal: TokenRefusal?, _ refusedToken: (@Sendable () -> RefusedToken?)?) {
        self.problem = problem.code
        self.refusal = refusal
        self.refusedToken = refusedToken
    }

    /// The record of the request when this response is ready, at a monotonic time.
    func record(_ response: Response, at now: UInt64) -> RequestRecord {
        RequestRecord(
            identifier: head.identifier, method: head.method, route: match.definition.pattern, status: response.status,
            duration: now - started, bytes: response.body.count, peer: head.peer,
            owner: owner.map { FNV1a(of: $0.identifier).value },
            problem: problem, refusal: refusal, refusedToken: refusedToken,
            clientRequestIdentifier: head.headers["client-request-id"].flatMap { CorrelationIdentifier.cleaned($0) },
            trace: head.headers["traceparent"].flatMap { CorrelationIdentifier.trace($0) })
    }
}
