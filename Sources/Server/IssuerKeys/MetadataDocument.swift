import Basics
import Tokens

/// One metadata document whose keys are trusted: that of a provider, or of one policy of an Azure AD B2C tenant.
///
/// A provider with several policies has several documents, one for each policy; a provider without policies has one.
package struct MetadataDocument: Sendable, Equatable {
    /// The policy as configured; nothing for a provider without policies.
    package var policy: String?
    package var metadataURL: String
    /// The issuer that the settings demand, if they do.
    package var pinnedIssuer: String?
    /// The GUID of the tenant, which the issuer must contain, if it is known.
    package var tenantIdentifier: String?
    /// Whether plain `http` is allowed; from the loopback it always is.
    package var allowHTTP: Bool
    /// Whether the issuer must belong to the address of the metadata (OpenID Connect Discovery 1.0 section 4.3), and all
    /// such documents of a token source be of one tenant: so that no provider can issue tokens for the owners of another.
    package var demandsOwnIssuer: Bool
    /// A file of certificates to trust instead of the machine's own.
    package var caFile: String?

    /// The document at this address; of the policy that the address names, if none is given.
    package init(
        policy: String? = nil, metadataURL: String, pinnedIssuer: String? = nil, tenantIdentifier: String? = nil,
        allowHTTP: Bool = false, demandsOwnIssuer: Bool = true, caFile: String? = nil
    ) {
        self.policy = policy ?? MetadataLocation(metadataURL)?.policy
        self.metadataURL = metadataURL
        self.pinnedIssuer = pinnedIssuer
        self.tenantIdentifier = tenantIdentifier
        self.allowHTTP = allowHTTP
        self.demandsOwnIssuer = demandsOwnIssuer
        self.caFile = caFile
    }

    /// The document of an authority, or of one B2C policy of it, see ``MetadataAddress``: that all are of one authority is
    /// in the settings.
    package init(
        authority: String, policy: String?, pinnedIssuer: String? = nil, allowHTTP: Bool = false, caFile: String? = nil
    ) {
        self.init(
            policy: policy, metadataURL: MetadataAddress.of(authority: authority, policy: policy),
            pinnedIssuer: pinnedIssuer, tenantIdentifier: MetadataAddress.tenantIdentifier(ofAuthority: authority),
            allowHTTP: allowHTTP, demandsOwnIssuer: false, caFile: caFile)
    }

    /// For messages: the policy, or the address of the metadata.
    package var name: String { policy ?? metadataURL }

    /// The issuer, if it is known before the document is fetched: that of the settings, or the one that Entra ID and External
    /// ID have for this address.
    package var knownIssuer: String? {
        if let pinnedIssuer { return pinnedIssuer }
        guard policy == nil, let address = WebAddress(metadataURL) else { return nil }
        return IssuerTenant.issuer(ofMetadata: address)
    }

    /// The tenant that the settings name: that of the known issuer, or else the GUID in the address; in lower case.
    var knownTenant: String? {
        if let knownIssuer { return IssuerTenant.of(knownIssuer) }
        return WebAddress(metadataURL)?.path.lazy.compactMap(GUID.canonical).first
    }
}
