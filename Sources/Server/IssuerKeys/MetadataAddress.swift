import Basics

/// The address of the metadata of an Azure AD B2C policy (V-73).
package enum MetadataAddress {
    private static let document = ".well-known/openid-configuration"

    /// The address of a policy's metadata under an authority.
    ///
    /// Hosts of the old service, such as `login.microsoftonline.com`, take the policy as `?p=`; all others,
    /// `*.b2clogin.com`, custom domains and mocks, in the path (`docs/b2c.md`).
    ///
    /// - Parameters:
    ///   - authority: `https://contoso.b2clogin.com/contoso.onmicrosoft.com`; slashes, `/v2.0` and the metadata document at
    ///     the end are accepted, and so is `/tfp` or `/te` before the tenant.
    ///   - policy: `b2c_1_sign_in`, or nothing for an authority without policies.
    /// - Returns: the address.
    package static func of(authority: String, policy: String?) -> String {
        let base = trimmed(authority)
        guard let policy, !policy.isEmpty else { return "\(base)/v2.0/\(document)" }
        let name = PercentEncoding.encode(policy)
        return isOldHost(base) ? "\(base)/v2.0/\(document)?p=\(name)" : "\(base)/\(name)/v2.0/\(document)"
    }

    /// The tenant of an authority, if it is given by its GUID: then the issuer must contain it (V-74).
    package static func tenantIdentifier(ofAuthority authority: String) -> String? {
        trimmed(authority).split(separator: "/").dropFirst(2).lazy.compactMap { GUID.canonical(String($0)) }.first
    }

    private static func trimmed(_ authority: String) -> String {
        var base = Substring(authority)
        // Each may be followed by another, such as the slash of ".../v2.0/".
        let endings = ["/\(document)", "/v2.0", "/"]
        while let ending = endings.first(where: { base.hasSuffix($0) }) { base = base.dropLast(ending.count) }
        return String(base)
    }

    private static func isOldHost(_ base: String) -> Bool {
        let parts = base.split(separator: "/")
        guard parts.count > 1 else { return false }
        let host = parts[1].prefix { $0 != ":" }.lowercased()
        return ["login.microsoftonline.com", "login.microsoft.com", "login.windows.net"].contains(host)
    }
}
