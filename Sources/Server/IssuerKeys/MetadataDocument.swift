import Basics
package import Tokens

/// One metadata document whose keys are trusted, of a provider or of one policy of an Azure AD B2C tenant.
package struct MetadataDocument: Sendable, Equatable {
    /// The policy as configured; nil for a provider without policies.
    package var policy: String?
    /// The address, and what must hold for the metadata; the source adds what concerns all of its documents.
    ///
    /// Unless the document demands its own issuer, all documents of the source must be of one tenant, so that no
    /// provider can issue tokens for the owners of another.
    package var rules: MetadataRules
    /// A file of certificates that are trusted instead of the machine's own.
    package var caFile: String?

    /// Creates the document at this address; without a policy, it is for the policy that the address names.
    package init(
        policy: String? = nil, metadataURL: String, pinnedIssuer: String? = nil, tenantIdentifier: String? = nil,
        allowHTTP: Bool = false, demandsOwnIssuer: Bool = true, caFile: String? = nil
    ) {
        self.policy = policy ?? MetadataLocation(metadataURL)?.policy
        rules = MetadataRules(
            metadataURL: metadataURL, pinnedIssuer: pinnedIssuer, tenantIdentifier: tenantIdentifier,
            allowHTTP: allowHTTP, demandsOwnIssuer: demandsOwnIssuer)
        self.caFile = caFile
    }

    /// Creates the document of an authority, or of one of its B2C policies; all are of one authority by the settings.
    package init(
        authority: String, policy: String?, pinnedIssuer: String? = nil, allowHTTP: Bool = false, caFile: String? = nil
    ) {
        self.init(
            policy: policy, metadataURL: MetadataAddress.of(authority: authority, policy: policy),
            pinnedIssuer: pinnedIssuer, tenantIdentifier: MetadataAddress.tenantIdentifier(ofAuthority: authority),
            allowHTTP: allowHTTP, demandsOwnIssuer: false, caFile: caFile)
    }

    package var metadataURL: String { rules.metadataURL }

    /// The name for messages: the policy, or the address of the metadata.
    package var name: String { policy ?? metadataURL }

    /// The issuer, if the settings name it, or if Entra ID and External ID have it for this address.
    package var knownIssuer: String? {
        if let pinnedIssuer = rules.pinnedIssuer { return pinnedIssuer }
        guard policy == nil, let address = WebAddress(metadataURL) else { return nil }
        return IssuerTenant.issuer(ofMetadata: address)
    }

    /// The tenant that the settings name, in lower case: that of the known issuer, or else the GUID in the address.
    var knownTenant: String? {
        if let knownIssuer { return IssuerTenant.of(knownIssuer) }
        return WebAddress(metadataURL)?.path.lazy.compactMap(GUID.canonical).first
    }
}
