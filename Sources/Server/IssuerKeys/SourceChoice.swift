import Platform
import Tokens

// The choice of a token's source (P-10, P-13, P-21, P-31).
//
// If there are several sources, the issuer that the token claims chooses one, before anything of the token is verified.
// Then everything is checked by the rules and keys of that source, the issuer again. The choice costs only a
// comparison: no invented issuer causes a fetch.
extension BearerVerifier {
    /// Returns the source of a token by its claims, of which nothing is verified yet.
    ///
    /// If no source has the issuer, some documents may not be loaded yet; then the client may try again.
    func source(of claims: Claims) throws(TokenRefusal) -> Int {
        guard let issuer = claims.issuer else { throw .wrongIssuer }
        let now = time.now
        if let index = caches.firstIndex(where: { $0.current(now: now).issues(issuer) }) { return index }
        let policy = claims.policy
        let second = time.wallSeconds
        let undecided = caches.first { !$0.source.isClosed(at: second) && $0.hasUnknownIssuer(forPolicy: policy) }
        guard let undecided else { throw .wrongIssuer }
        throw .keysUnavailable(retryAfter: undecided.retryAfter)
    }

    /// Returns whether the time of a source is over, so that its tokens are refused (P-31).
    func isClosed(_ source: Int) -> Bool { caches[source].source.isClosed(at: time.wallSeconds) }

    /// Returns the refusal of a token whose key its source does not have, if other sources may know the key.
    ///
    /// Two issuers of Microsoft share keys, and one may have fetched a new key before the other: then the token is not
    /// invalid (P-21). Otherwise its issuer does not publish the key (P-10).
    func refusal(_ refusal: TokenRefusal, of token: PresentedToken) -> TokenRefusal {
        let source = token.source
        guard refusal == .unknownKey || refusal == .badSignature else { return refusal }
        let now = time.now
        for other in caches.indices where other != source {
            let snapshot = caches[other].current(now: now)
            guard case .good = snapshot.finding(token.compact, token.header) else { continue }
            let isCertain = refusal == .badSignature || caches[source].isLoaded(since: snapshot.since)
            return isCertain ? .wrongIssuer : .keysUnavailable(retryAfter: caches[source].retryAfter)
        }
        return refusal
    }

    /// Returns the token source that ``explain(_:)`` uses; nil if the token has none.
    package func chosenSource(of token: String) -> TokenSourceStatus? {
        choice(for: token).source.map { statuses[$0] }
    }

    func choice(for token: String) -> (source: Int?, refusal: TokenRefusal?) {
        do throws(TokenRefusal) {
            let index = caches.count > 1 ? try source(of: Claims(of: CompactToken(token))) : 0
            return (index, isClosed(index) ? .sourceClosed : nil)
        } catch {
            return (nil, error)
        }
    }
}

/// One token source at one moment, for `/readyz`, `/metrics` and `explain-token`.
package struct TokenSourceStatus: Sendable, Equatable {
    /// The name; nil for the source without a name.
    package let name: String?
    package let keys: KeyStatus
    /// The issuers of the source, as far as they are known.
    package let issuers: [String]
    /// Whether the end date of the source is past.
    package let isClosed: Bool

    /// Whether tokens of the source can be accepted now.
    package var serves: Bool { !isClosed && keys.state.serves }
}

extension TokenSource {
    /// Whether the source has the owners of another, and so none to share with a third.
    var sharesOwners: Bool { if case .shared = owners { true } else { false } }
}
