import Basics
import HTTP
import JSON
import Platform
import Tasks
import Tokens

/// The checks before the handler of a protected route: credentials, principal, scope and rate.
struct BearerAuthentication: Sendable {
    private let verifier: any TokenVerifier
    private let allowQueryToken: Bool
    private let rate: RateLimiter?

    init(_ configuration: TaskAPIConfiguration) {
        verifier = configuration.verifier
        allowQueryToken = configuration.allowQueryToken
        rate = configuration.rateLimit.map { RateLimiter(perSecond: $0, time: configuration.time) }
    }

    /// What tokens are judged by now; see ``Tokens/TokenVerifier/generation``.
    var generation: UInt64 { verifier.generation }

    func token(of head: RequestHead) throws(APIFailure) -> ArraySlice<UInt8> {
        switch BearerCredentials(of: head, allowQuery: allowQueryToken) {
        case .none: throw .credentials(.missing)
        case .queryNotAllowed: throw .credentials(.inQuery)
        case .malformed: throw .credentials(.malformed)
        case .token(let token): return token
        }
    }

    /// Verifies a token, which may be cached, as far as possible without waiting.
    func verify(_ token: ArraySlice<UInt8>) throws(APIFailure) -> Verification {
        if let principal = verifier.cachedPrincipal(of: token) { return .verified(principal) }
        return try rethrowing(as: { failure($0, of: token) }) { () throws(TokenRefusal) in
            try verifier.beginVerifying(String(decoding: token, as: UTF8.self))
        }
    }

    /// Finishes the verification of a token, which may wait for keys.
    func principal(of token: ArraySlice<UInt8>, after rest: Verification.Rest) async throws(APIFailure) -> Principal {
        do throws(TokenRefusal) {
            return try await rest()
        } catch {
            throw failure(error, of: token)
        }
    }

    private func failure(_ refusal: TokenRefusal, of token: ArraySlice<UInt8>) -> APIFailure {
        BearerCredentials.isWellFormed(token) ? .credentials(.token(refusal)) : .credentials(.malformed)
    }

    /// Takes one of the person's requests, which the answer's fields count, and refuses the request if none was left.
    func admit(_ owner: Owner, _ request: APIRequest) throws(APIFailure) {
        guard let state = rate?.take(owner) else { return }
        request.rate = state
        if let seconds = state.secondsToWait { throw .credentials(.tooManyRequests(retryAfter: seconds)) }
    }

    /// Whether the token has the scope that its source requires for this kind of operation (V-59, P-12).
    func check(_ scope: Operation.Scope, of principal: Principal) throws(APIFailure) {
        let missing =
            switch scope {
            case .read: principal.missingScopes.read
            case .write: principal.missingScopes.write
            }
        if let missing { throw .credentials(.missingScope(missing)) }
    }
}
