import Basics
import HTTP
import Tasks
import Tokens

/// One request on its way through the API: its head, its route, and what its record needs.
final class APIRequest: @unchecked Sendable {
    // Unchecked: `decide` and the closure that it returns run one after the other, never at once, and the server's
    // hand-over between them orders the memory. A class, because the second continues where the first stopped.
    let head: RequestHead
    let match: RouteMatch
    private let started: UInt64
    /// The person, once the token was verified.
    var owner: Owner?
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

    func note(_ failure: APIFailure, refusedToken: (@Sendable () -> RefusedToken?)? = nil) {
        problem = failure.problem.code
        refusal = failure.tokenRefusal
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
