/// Decides whether a bearer token is accepted.
package protocol TokenVerifier: Sendable {
    /// Verifies a token in full, as far as nothing has to be waited for: form, signature, claims.
    ///
    /// - Parameter token: everything after the scheme.
    /// - Returns: whom it represents, or the rest that waits.
    /// - Throws: the exact reason, for the log; answers show only its ``TokenRefusal/outcome``.
    func verification(of token: String) throws(TokenRefusal) -> Verification

    /// Looks a token up that was verified before; never waits, and copies nothing of it.
    ///
    /// - Parameter token: as in ``verification(of:)``, as bytes.
    /// - Returns: whom it represents, if it would be accepted again now; nothing: it must be verified.
    func cached(_ token: ArraySlice<UInt8>) -> Principal?
}

extension TokenVerifier {
    /// Nothing: a verifier without a cache verifies every time.
    package func cached(_ token: ArraySlice<UInt8>) -> Principal? { nil }

    /// Whom a token represents; waits where that is necessary.
    package func verify(_ token: String) async throws(TokenRefusal) -> Principal {
        switch try verification(of: token) {
        case .verified(let principal): principal
        case .waiting(let rest): try await rest()
        }
    }
}

/// How far the verification of a token came without waiting.
package enum Verification: Sendable {
    /// The token passed every check: whom it represents.
    case verified(Principal)
    /// The key is unknown, or is being loaded for the policy of the token: the rest waits for the authority.
    case waiting(_ rest: Rest)

    /// The rest of a verification: waits for a limited time.
    package typealias Rest = @Sendable () async throws(TokenRefusal) -> Principal
}

/// Whom a verified token represents.
///
/// A value of this type exists only for tokens that passed every check. A class, so that a request with a cached token
/// takes one reference to it.
package final class Principal: Sendable {
    /// The storage key: the owner claim, an `oid` folded to lower case, after the namespace of the token source (P-14).
    package let owner: String
    /// The display name, if the token has one.
    package let name: String?
    /// The policy (`tfp`, else `acr`) as configured, if the provider has policies.
    package let policy: String?
    /// The scopes, in their order; empty for ID tokens.
    package let scopes: [String]
    /// `exp`, in seconds since 1970.
    package let expiry: Int64
    /// The name of the token source, if it has one.
    package let source: String?
    /// What the token source requires to read and to change tasks, and the token does not have (P-12).
    ///
    /// Nothing where the token may; so a request with a cached token compares no scopes.
    package let missingScopes: RequiredScopes

    package init(
        owner: String, name: String?, policy: String?, scopes: [String], expiry: Int64, source: String? = nil,
        required: RequiredScopes = RequiredScopes()
    ) {
        self.owner = owner
        self.name = name
        self.policy = policy
        self.scopes = scopes
        self.expiry = expiry
        self.source = source
        missingScopes = required.missing(from: scopes)
    }
}

extension Principal: Equatable {
    package static func == (left: Principal, right: Principal) -> Bool {
        left.owner == right.owner && left.name == right.name && left.policy == right.policy
            && left.scopes == right.scopes && left.expiry == right.expiry && left.source == right.source
            && left.missingScopes == right.missingScopes
    }
}
