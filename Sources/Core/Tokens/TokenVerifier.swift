/// Decides whether a bearer token is accepted.
package protocol TokenVerifier: Sendable {
    /// Verifies the text after the scheme, as far as possible without waiting: form, signature, claims.
    ///
    /// - Throws: the exact reason, for the log; answers show only its ``TokenRefusal/outcome``.
    func beginVerifying(_ token: String) throws(TokenRefusal) -> Verification

    /// Looks up the bytes after the scheme among the tokens that were verified before, without waiting and without a
    /// copy.
    ///
    /// Returns nil if the token must be verified again.
    func cachedPrincipal(of token: ArraySlice<UInt8>) -> Principal?

    /// A number that changes with everything by which tokens are judged, except the time: after a change, a token that
    /// was verified may be refused (V-110).
    var generation: UInt64 { get }
}

extension TokenVerifier {
    /// Returns nil: a verifier without a cache verifies every time.
    package func cachedPrincipal(of token: ArraySlice<UInt8>) -> Principal? { nil }

    /// Returns 0: a verifier without keys judges by the time only.
    package var generation: UInt64 { 0 }
}

/// The result of a verification as far as it comes without waiting.
package enum Verification: Sendable {
    /// The token passed every check, and represents this person.
    case verified(Principal)
    /// The key is unknown, or is being loaded for the policy of the token; the rest waits for the authority.
    case waiting(_ rest: Rest)

    /// The rest of a verification, which waits for a limited time.
    package typealias Rest = @Sendable () async throws(TokenRefusal) -> Principal

    /// Returns the person, after the rest if necessary.
    package func principal() async throws(TokenRefusal) -> Principal {
        switch self {
        case .verified(let principal): principal
        case .waiting(let rest): try await rest()
        }
    }
}

/// The person that a verified token represents.
///
/// Such a value exists only for tokens that passed every check. It is a class, so that a request takes one reference.
package final class Principal: Sendable {
    /// The storage key: the namespace of the token source, then the owner claim, with an `oid` in lower case (P-14).
    package let owner: String
    /// The display name, if the token has one.
    package let name: String?
    /// The policy (`tfp`, else `acr`) as configured, if the provider has policies.
    package let policy: String?
    /// The scopes, in their order; empty for ID tokens.
    package let scopes: [String]
    /// `exp`, in seconds since 1970.
    package let expiry: Int64
    /// `iat`, in seconds since 1970; without it the earliest time at which a token with this end can have been issued.
    package let issued: Int64
    /// The name of the token source, if it has one.
    package let source: String?
    /// The required scopes that the token lacks, to read and to change tasks (P-12); a cached token compares no scopes.
    package let missingScopes: RequiredScopes

    package init(
        owner: String, name: String?, policy: String?, scopes: [String], expiry: Int64, issued: Int64,
        source: String? = nil, required: RequiredScopes = RequiredScopes()
    ) {
        self.owner = owner
        self.name = name
        self.policy = policy
        self.scopes = scopes
        self.expiry = expiry
        self.issued = issued
        self.source = source
        missingScopes = required.missing(from: scopes)
    }
}

extension Principal: Equatable {
    package static func == (left: Principal, right: Principal) -> Bool {
        left.owner == right.owner && left.name == right.name && left.policy == right.policy
            && left.scopes == right.scopes && left.expiry == right.expiry && left.issued == right.issued
            && left.source == right.source && left.missingScopes == right.missingScopes
    }
}

/// A token that passed every check, as a cache may keep it.
///
/// A cache compares the times at each use (V-104), and must know itself whether the key is still trusted (V-103).
package struct VerifiedToken: Sendable, Equatable {
    package let principal: Principal
    /// The first second since 1970 at which the token is accepted, with the clock skew.
    package let usableFrom: Int64
    /// The first second since 1970 at which the token is no longer accepted, with the clock skew.
    package let usableUntil: Int64

    /// Returns whether a new verification would accept the times at this second since 1970 (V-104).
    package func isUsable(at second: Int64) -> Bool {
        usableFrom <= second && second < usableUntil
    }
}
