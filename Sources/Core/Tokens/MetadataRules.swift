import Basics

/// The facts about a provider that are known before its metadata is fetched.
package struct MetadataRules: Sendable, Equatable {
    package var metadataURL: String
    /// The issuer that the settings demand, if any; no other issuer is trusted then.
    package var pinnedIssuer: String?
    /// The GUID of the tenant, if it is known; the issuer must contain it.
    package var tenantIdentifier: String?
    /// Whether plain `http` is allowed from other hosts than the loopback.
    package var allowHTTP: Bool
    /// Whether the issuer must belong to the address (OpenID Connect Discovery 1.0 section 4.3), not only to its host.
    package var demandsOwnIssuer: Bool
    /// Other hosts than the document's from which keys may come (P-6).
    package var keyHosts: [String]
    /// Whether the issuer may leave the tenant open, because the settings list the tenants (P-5).
    package var allowsTemplate: Bool

    /// Creates rules for a document at this address; the defaults are the strictest.
    package init(
        metadataURL: String, pinnedIssuer: String? = nil, tenantIdentifier: String? = nil, allowHTTP: Bool = false,
        demandsOwnIssuer: Bool = true, keyHosts: [String] = [], allowsTemplate: Bool = false
    ) {
        self.metadataURL = metadataURL
        self.pinnedIssuer = pinnedIssuer
        self.tenantIdentifier = tenantIdentifier
        self.allowHTTP = allowHTTP
        self.demandsOwnIssuer = demandsOwnIssuer
        self.keyHosts = keyHosts
        self.allowsTemplate = allowsTemplate
    }

    /// Returns whether the scheme of the address is allowed.
    func mayFetch(_ address: WebAddress) -> Bool {
        address.isEncrypted || address.isLoopback || allowHTTP
    }
}
