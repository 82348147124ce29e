package import Basics
import Tokens

/// The address of the metadata of an authority, or of one of its Azure AD B2C policies (V-73, P-3).
package enum MetadataAddress {
    private static let document = ".well-known/openid-configuration"

    /// Returns the address of the metadata under an authority, for one of its policies if one is given.
    ///
    /// Hosts of the old service, such as `login.microsoftonline.com`, take the policy as `?p=`. All others
    /// (`*.b2clogin.com`, custom domains and mocks) take it in the path (`docs/reproduced.md`).
    ///
    /// The authority may end in slashes, `/v2.0` or the metadata document, and may have `/tfp` or `/te` before its
    /// tenant. A query stays. For External ID the host is enough, `https://contoso.ciamlogin.com/`: then the tenant is
    /// `contoso.onmicrosoft.com`.
    package static func of(authority: String, policy: String?) -> String {
        let parts = authority.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count > 1 ? parts[1] : ""
        let base = withTenant(trimmed(parts.first ?? ""))
        let suffix = query.isEmpty ? "" : "?\(query)"
        guard let policy, !policy.isEmpty else { return "\(base)/v2.0/\(document)\(suffix)" }
        let name = PercentEncoding.encode(policy)
        guard isOldHost(base) else { return "\(base)/\(name)/v2.0/\(document)\(suffix)" }
        return "\(base)/v2.0/\(document)?p=\(name)\(query.isEmpty ? "" : "&\(query)")"
    }

    /// Returns the beginning of ``of(authority:policy:)`` for an authority without policies.
    ///
    /// `/.well-known` and a query are left out: `https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0`.
    package static func base(ofAuthority authority: String) -> String {
        "\(withTenant(trimmed(authority.prefix { $0 != "?" })))/v2.0"
    }

    /// Takes an authority apart that ends in a B2C policy, as MSAL's authorities do; nil if it ends in none.
    ///
    /// The tenant has no `/tfp` or `/te` before it: `https://contoso.b2clogin.com/contoso.onmicrosoft.com`.
    package static func tenantAndPolicy(ofAuthority authority: String) -> (tenant: WebAddress, policy: String)? {
        guard let address = WebAddress(trimmed(authority[...])), address.query == nil,
            let policy = MetadataLocation("\(address.text)/v2.0/\(document)")?.policy, PolicyName.isOfB2C(policy),
            let name = address.path.dropLast().last,
            let tenant = WebAddress("\(address.text.originAndPath.origin)/\(name)")
        else { return nil }
        return (tenant, policy)
    }

    /// Returns the tenant of an authority, if it is given by its GUID, which the issuer must then contain (V-74).
    package static func tenantIdentifier(ofAuthority authority: String) -> String? {
        let path = authority.prefix { $0 != "?" }
        return trimmed(path).split(separator: "/").dropFirst(2).lazy.compactMap { GUID.canonical(String($0)) }.first
    }

    private static func trimmed(_ authority: Substring) -> String {
        var base = authority
        // An ending may be followed by another, such as the slash of ".../v2.0/".
        let endings = ["/\(document)", "/v2.0", "/"]
        while let ending = endings.first(where: { base.hasSuffix($0) }) { base = base.dropLast(ending.count) }
        return String(base)
    }

    /// Appends the tenant that External ID's host names, as all of Microsoft's libraries do.
    private static func withTenant(_ base: String) -> String {
        guard let address = WebAddress(base), address.path.isEmpty, address.host.hasSuffix(".ciamlogin.com"),
            let label = address.host.split(separator: ".").first
        else { return base }
        return "\(base)/\(label).onmicrosoft.com"
    }

    private static func isOldHost(_ base: String) -> Bool {
        ["login.microsoftonline.com", "login.microsoft.com", "login.windows.net"].contains(WebAddress(base)?.host)
    }
}
