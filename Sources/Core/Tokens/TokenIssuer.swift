import Basics

/// A possible issuer of a token under some key: an issuer, and the policy whose metadata named it.
///
/// The policies of a B2C tenant share an issuer and may share keys, so the issuer does not tell a token's policy.
package struct TokenIssuer: Sendable, Hashable {
    /// The issuer that the metadata names.
    ///
    /// `iss` must have the same bytes (V-54), or the bytes of the template with the tenant of the token in it (P-22).
    package let identifier: String
    /// The policy as configured; nil for a provider without policies.
    package let policy: String?
    /// Whether the identifier leaves the tenant open: `https://login.microsoftonline.com/{tenantid}/v2.0`.
    package let isTemplate: Bool

    package init(identifier: String, policy: String?) {
        self.identifier = identifier
        self.policy = policy
        isTemplate = IssuerTenant.isTemplate(identifier)
    }

    /// Returns whether a token with this `iss` and this `tid` (nil if it has none, or no GUID) is of this issuer.
    package func issues(_ issuer: String, tenant: @autoclosure () -> String?) -> Bool {
        guard isTemplate else { return issuer.isSame(as: identifier) }
        guard let tenant = tenant(), let named = IssuerTenant.of(issuer), named.isSame(as: tenant) else { return false }
        return IssuerTenant.fill(identifier, with: tenant).isSame(as: issuer)
    }

    /// Compares bytes, see `isSame(as:)`.
    package static func == (a: TokenIssuer, b: TokenIssuer) -> Bool {
        guard a.identifier.isSame(as: b.identifier) else { return false }
        return switch (a.policy, b.policy) {
        case (nil, nil): true
        case (let a?, let b?): a.isSame(as: b)
        case (nil, _?), (_?, nil): false
        }
    }
}
