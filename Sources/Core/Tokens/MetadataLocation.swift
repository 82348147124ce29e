import Basics

/// The facts in the address of a metadata document: its provider, and its B2C policy.
///
/// An issuer's document is at the issuer followed by `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0
/// section 4.3). Microsoft's is not: the document at
/// `https://host/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/.well-known/...`,
/// or at `https://host/contoso.onmicrosoft.com/v2.0/.well-known/...?p=b2c_1_sign_in`, has the issuer
/// `https://host/<GUID of contoso>/v2.0/` or `https://host/tfp/<GUID of contoso>/b2c_1_sign_in/v2.0/`
/// (docs/reproduced.md).
package struct MetadataLocation: Sendable {
    private let address: WebAddress
    /// The path of the issuer, by the rule of OpenID Connect.
    private let issuerPath: [String]
    /// The path without policy and version, which is the path of the tenant if the form is Microsoft's.
    private let tenantPath: [String]
    private let isMicrosoftForm: Bool
    private let policies: [String]

    /// Takes an address apart; nil if the text is not a plain web address.
    package init?(_ metadataURL: String) {
        guard let address = WebAddress(metadataURL) else { return nil }
        self.address = address
        let wellKnown = address.path.firstIndex { $0.isSame(as: ".well-known") }
        // RFC 8414 section 3 puts the document before the path of the issuer, so the path goes on after the document.
        issuerPath = wellKnown.map { Array(address.path[..<$0] + address.path[$0...].dropFirst(2)) } ?? address.path
        var path = issuerPath
        isMicrosoftForm = path.last.map { $0.isEqualIgnoringCase(to: "v2.0") } ?? false
        if isMicrosoftForm { path.removeLast() }
        let isB2C = address.isB2C
        var policies = Self.policyArguments(address.query).filter { isB2C || PolicyName.isOfB2C($0) }
        if path.count > 1, let last = path.last, isB2C || PolicyName.isOfB2C(last) {
            policies.append(path.removeLast())
        }
        // One of two prefixes, which mean nothing, may come before the tenant of a policy.
        if !policies.isEmpty, path.count > 1, let prefix = path.first,
            ["tfp", "te"].contains(where: { $0.isSame(as: prefix) })
        {
            path.removeFirst()
        }
        self.policies = policies
        tenantPath = path
    }

    /// The policy that the address names; nil for a provider without policies, or if the address names two.
    package var policy: String? { namesSeveralPolicies ? nil : policies.first }

    /// Whether the path and the query name different policies.
    package var namesSeveralPolicies: Bool {
        guard let first = policies.first else { return false }
        return !policies.allSatisfy { $0.isEqualIgnoringCase(to: first) }
    }

    /// Whether this is an address of Azure AD B2C without a policy, so that none could be required of tokens.
    package var lacksPolicy: Bool { address.isB2C && policies.isEmpty }

    /// Returns whether both addresses are of one provider and, if it has tenants, of one tenant.
    package func isSameProvider(as other: MetadataLocation) -> Bool {
        guard address.isSameOrigin(as: other.address), isMicrosoftForm == other.isMicrosoftForm,
            tenantPath.count == other.tenantPath.count
        else { return false }
        // B2C ignores the case of a tenant's name; other providers may not.
        let areTenants = !policies.isEmpty && !other.policies.isEmpty
        return zip(tenantPath, other.tenantPath).allSatisfy {
            areTenants ? $0.isEqualIgnoringCase(to: $1) : $0.isSame(as: $1)
        }
    }

    /// Returns the values of `p` in a query: the policy, for the hosts that expect it there.
    private static func policyArguments(_ query: String?) -> [String] {
        (query ?? "").split(separator: "&").compactMap { argument in
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].isEqualIgnoringCase(to: "p"), !parts[1].isEmpty else { return nil }
            return String(parts[1])
        }
    }
}

// The issuers that belong to the address (V-74).
extension MetadataLocation {
    /// Returns whether a document at this address may name this issuer.
    ///
    /// The document may name the issuer by OpenID Connect's rule, or an issuer whose path is a prefix of that issuer's
    /// path. In Microsoft's form it may also name the issuer of the tenant, by GUID if the address has a name. It may
    /// never name the issuer of another path on the host.
    func owns(issuer: WebAddress) -> Bool {
        guard issuer.isSameOrigin(as: address), issuer.query == nil, !issuer.hasFragment else { return false }
        if issuerPath.starts(with: issuer.path, by: { $0.isSame(as: $1) }) { return true }
        guard isMicrosoftForm, tenantPath.count == 1, let tenant = tenantPath.first else { return false }
        var path = issuer.path
        guard let version = path.popLast(), version.isEqualIgnoringCase(to: "v2.0") else { return false }
        if path.count == 3, path[0].isSame(as: "tfp"), let policy, path[2].isEqualIgnoringCase(to: policy) {
            path = [path[1]]
        }
        guard path.count == 1, let named = path.first else { return false }
        if named.isEqualIgnoringCase(to: tenant) || named.isSame(as: IssuerTenant.placeholder) { return true }
        return GUID.canonical(named) != nil && GUID.canonical(tenant) == nil
    }

    /// Returns whether two issuers are equal or of one B2C tenant; nil if they differ and do not name two tenants.
    package static func isSameTenant(_ issuer: String, _ other: String) -> Bool? {
        if issuer.isSame(as: other) { return true }
        guard let first = WebAddress(issuer), let second = WebAddress(other), let tenant = IssuerTenant.of(first),
            let otherTenant = IssuerTenant.of(second)
        else { return nil }
        guard tenant.isSame(as: otherTenant) else { return false }
        return first.isSameOrigin(as: second) ? true : nil
    }
}

extension WebAddress {
    /// Whether the host is Azure AD B2C's: `contoso.b2clogin.com`, or the host of another cloud.
    fileprivate var isB2C: Bool {
        host.split(separator: ".").dropLast().last.map { $0.isSame(as: "b2clogin") } ?? false
    }
}

/// The names of B2C's policies.
package enum PolicyName {
    /// Returns whether a text has the prefix of all user flows (`B2C_1_`) or of all custom policies (`B2C_1A_`).
    package static func isOfB2C(_ text: String) -> Bool {
        let name = text.lowercasedASCII
        return name.hasPrefix("b2c_1_") || name.hasPrefix("b2c_1a_")
    }
}
