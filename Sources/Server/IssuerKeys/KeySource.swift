import Tokens

/// One metadata document whose keys are trusted: that of a provider, or of one policy of an Azure AD B2C tenant.
///
/// In this module "source" always means this. A provider with several policies is several key sources, one for each
/// policy; a provider without policies is one.
package struct KeySource: Sendable, Equatable {
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
    /// such key sources be of one tenant: so that no provider can issue tokens for the owners of another.
    package var demandsOwnIssuer: Bool
    /// A file of certificates to trust instead of the machine's own.
    package var caFile: String?

    /// The key source at this address; of the policy that the address names, if none is given.
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

    /// The key source of a B2C policy, see ``MetadataAddress``: that all are of one authority is in the settings.
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

    static let metadataSetting = "TASKS_METADATA_URL"

    /// The setting that names the provider, for messages.
    var setting: String { demandsOwnIssuer ? Self.metadataSetting : "TASKS_AUTHORITY" }

    var metadataRules: MetadataRules {
        MetadataRules(
            metadataURL: metadataURL, pinnedIssuer: pinnedIssuer, tenantIdentifier: tenantIdentifier,
            allowHTTP: allowHTTP, demandsOwnIssuer: demandsOwnIssuer)
    }

    /// Scheme, host and port of the metadata: key sources of one origin are unreachable together.
    var origin: String {
        metadataURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(
            separator: "/")
    }
}
