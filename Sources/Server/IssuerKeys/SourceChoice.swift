import Platform
import Tokens

// Which token source a token belongs to (P-10, P-13, P-21, P-31).
//
// Where there are several, the issuer that the token claims chooses one, before anything of the token is verified; then
// everything is checked by the rules and keys of that one, the issuer again. Choosing costs nothing but a comparison: no
// invented issuer causes a fetch.
extension BearerVerifier {
    /// The source of a token, by claims of which nothing is verified yet.
    ///
    /// - Throws: ``TokenRefusal/wrongIssuer`` if no source has the issuer, ``TokenRefusal/keysUnavailable(retryAfter:)`` if
    ///   that is not certain yet.
    func source(of claims: Claims) throws(TokenRefusal) -> Int {
        guard let issuer = claims.issuer else { throw .wrongIssuer }
        let now = time.now
        if let index = caches.firstIndex(where: { $0.current(now: now).issues(issuer) }) { return index }
        let policy = claims.policy
        let second = time.wallSeconds
        let undecided = caches.first { !$0.source.isClosed(at: second) && $0.mayIssueUnknown(policy: policy) }
        guard let undecided else { throw .wrongIssuer }
        throw .keysUnavailable(retryAfter: undecided.retryAfter)
    }

    /// Whether the time of a source is over: its tokens are refused (P-31).
    func isClosed(_ source: Int) -> Bool { caches[source].source.isClosed(at: time.wallSeconds) }

    /// The refusal of a token whose key its source does not have, by what the other sources know of that key.
    ///
    /// Two issuers of Microsoft share keys, and one may have fetched a new one before the other: then the token is not
    /// invalid (P-21). Otherwise the key is one that its issuer does not publish (P-10).
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

    /// The token source that ``explain(_:)`` uses; nil if the token has none.
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
    /// Nothing for the source without name.
    package let name: String?
    package let keys: KeyStatus
    /// The issuers whose tokens are its own, as far as they are known.
    package let issuers: [String]
    /// Whether its end date is past.
    package let isClosed: Bool

    /// Whether its tokens can be accepted now.
    package var serves: Bool { !isClosed && keys.state.serves }
}

extension TokenSource {
    /// Whether its owners are those of another source: it has none to share with a third.
    var sharesOwners: Bool {
        switch owners {
        case .shared: true
        case .own, .bare: false
        }
    }
}
