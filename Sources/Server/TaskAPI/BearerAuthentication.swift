import HTTP
import Tokens

/// Credentials to principal, scopes and rate: all that is checked before the handler of a protected route.
struct BearerAuthentication: Sendable {
    private let verifier: any TokenVerifier
    private let allowQueryToken: Bool
    private let readScope: String?
    private let writeScope: String?
    private let rate: RateLimiter?

    init(_ configuration: TaskAPIConfiguration) {
        verifier = configuration.verifier
        allowQueryToken = configuration.allowQueryToken
        readScope = configuration.readScope
        writeScope = configuration.writeScope
        rate = configuration.rateLimit.map { RateLimiter(perSecond: $0, time: configuration.time) }
    }

    /// The token that the request presents.
    func token(of head: RequestHead) throws(APIFailure) -> String {
        switch BearerCredentials(of: head, allowQuery: allowQueryToken) {
        case .none: throw .credentials(.missing)
        case .queryNotAllowed: throw .credentials(.inQuery)
        case .malformed: throw .credentials(.malformed)
        case .token(let token): return token
        }
    }

    /// Who a token speaks for that was judged before.
    func cached(_ token: String) -> Principal? { verifier.cached(token) }

    /// The principal of a token.
    func verify(_ token: String) async throws(APIFailure) -> Principal {
        do {
            return try await verifier.verify(token)
        } catch {
            throw BearerCredentials.isWellFormed(token) ? .credentials(.token(error)) : .credentials(.malformed)
        }
    }

    /// Whether this person may make another request now.
    func admit(_ principal: Principal) throws(APIFailure) {
        guard let rate, let seconds = rate.refuses(principal.owner) else { return }
        throw .credentials(.tooManyRequests(retryAfter: seconds))
    }

    /// Whether the token has the scope that the settings name for this kind of operation (V-59).
    func check(_ scope: Operation.Scope, of principal: Principal) throws(APIFailure) {
        let required =
            switch scope {
            case .read: readScope
            case .write: writeScope
            }
        guard let required else { return }
        guard principal.scopes.contains(where: { $0.utf8.elementsEqual(required.utf8) }) else {
            throw .credentials(.missingScope(required))
        }
    }
}
