package import Basics

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

/// The tenant in an issuer of Microsoft's.
///
/// The forms are `https://host/<GUID>/v2.0`, with or without a slash at the end,
/// `https://host/tfp/<GUID>/<policy>/v2.0/` of B2C, and `https://sts.windows.net/<GUID>/` of version 1.
package enum IssuerTenant {
    /// The text in place of the tenant in the issuer of `common` and `organizations`.
    static let placeholder = "{tenantid}"
    /// The tenant of all personal Microsoft accounts.
    package static let personalAccounts = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// Returns the GUID of the tenant in lower case; nil for an issuer of another form.
    package static func of(_ issuer: String) -> String? {
        WebAddress(issuer).flatMap(of)
    }

    package static func of(_ issuer: WebAddress) -> String? {
        var path = issuer.path
        if path.count > 1 {
            guard let version = path.popLast(), version.isEqualIgnoringCase(to: "v2.0") else { return nil }
        }
        switch path.count {
        case 1: return GUID.canonical(path[0])
        case 3 where path[0].isSame(as: "tfp"): return GUID.canonical(path[1])
        default: return nil
        }
    }

    /// Returns the issuer of Entra ID or External ID for the address of a metadata document of version 2 (P-4).
    ///
    /// The result is nil for other providers, for a tenant given by its name, and for other forms of the address.
    package static func issuer(ofMetadata address: WebAddress) -> String? {
        let path = address.path
        guard path.count == 4, path[1].isSame(as: "v2.0"), path[2].isSame(as: ".well-known") else { return nil }
        let tenant = GUID.canonical(path[0])
        if address.host.hasSuffix(".ciamlogin.com") {
            return tenant.map(issuerOfExternalID)
        }
        guard let host = entraHosts.first(where: { $0.isSame(as: address.host) }) else { return nil }
        if let tenant { return "https://\(host)/\(tenant)/v2.0" }
        let isOpen = ["common", "organizations"].contains { $0.isSame(as: path[0]) }
        return isOpen ? "https://\(host)/\(placeholder)/v2.0" : nil
    }

    /// Returns the issuer of External ID, which is the same for every address and has no slash at its end.
    static func issuerOfExternalID(_ tenant: String) -> String { "https://\(tenant).ciamlogin.com/\(tenant)/v2.0" }

    private static let entraHosts = [
        "login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
    ]

    package static func isTemplate(_ issuer: String) -> Bool {
        issuer.utf8.contains(UInt8(ascii: "{")) && fill(issuer, with: "") != issuer
    }

    /// Returns the template with this tenant in all of its places.
    package static func fill(_ template: String, with tenant: String) -> String {
        var result = ""
        var rest = template[...]
        while let brace = rest.firstIndex(of: "{") {
            result += rest[..<brace]
            rest = rest[brace...]
            let isPlace = rest.hasPrefix(placeholder)
            result += isPlace ? tenant : "{"
            rest = rest.dropFirst(isPlace ? placeholder.count : 1)
        }
        return result + rest
    }
}
