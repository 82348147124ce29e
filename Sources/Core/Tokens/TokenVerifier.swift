/// What decides whether a bearer token is good.
package protocol TokenVerifier: Sendable {
    /// Judges a token, in full: form, signature, claims.
    ///
    /// - Parameter token: what stood behind the scheme, every byte of it.
    /// - Returns: who it speaks for.
    /// - Throws: the fine reason, for the log; answers show only its ``TokenRefusal/outcome``.
    func verify(_ token: String) async throws(TokenRefusal) -> Principal

    /// Who a token speaks for that was judged good before, as long as that can be believed; nil: it must be judged.
    func remembered(_ token: String) -> Principal?
}

extension TokenVerifier {
    /// Nobody: what remembers nothing judges every time.
    package func remembered(_ token: String) -> Principal? { nil }
}

/// Who a verified token speaks for.
///
/// A value of this type exists only for tokens that passed every check.
package struct Principal: Sendable, Equatable {
    /// The owner claim, folded to lower case: the storage key.
    package let owner: String
    /// The display name, if the token has one.
    package let name: String?
    /// The policy (`tfp`, else `acr`) as configured, if the provider has policies.
    package let policy: String?
    /// The values of `scp`, in their order; empty for ID tokens.
    package let scopes: [String]
    /// `exp`, in seconds since 1970.
    package let expiry: Int64
    /// `kid` of the key that signed.
    package let keyIdentifier: String

    /// A principal of these claims.
    package init(
        owner: String, name: String?, policy: String?, scopes: [String], expiry: Int64, keyIdentifier: String
    ) {
        self.owner = owner
        self.name = name
        self.policy = policy
        self.scopes = scopes
        self.expiry = expiry
        self.keyIdentifier = keyIdentifier
    }
}
