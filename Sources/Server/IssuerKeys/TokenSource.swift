package import Basics
package import Tokens

/// One configured provider, closed in itself: its documents, and the rules for its tokens.
///
/// Keys, issuers, audiences and owners of one token source mean nothing for another (P-10 to P-14).
package struct TokenSource: Sendable, Equatable {
    /// The name, of letters, digits and dashes; nil for the source without a name (`TASKS_AUTHORITY` and the like).
    package var name: String?
    /// The documents, one for each policy or metadata URL, all of one tenant.
    package var documents: [MetadataDocument]
    /// The rules for claims; the name, the namespace of owners and the end date are added from the other properties.
    package var rules: ClaimRules
    package var owners: OwnerNamespace
    /// Other hosts than the documents' from which keys may come (P-6).
    package var keyHosts: [String] = []
    /// The algorithms of signatures that the source accepts; a key without `alg` is for the first that suits it (V-36).
    package var algorithms = SignatureAlgorithm.allCases
    /// The time from which the tokens of the source are refused, in seconds since 1970 (P-31).
    package var end: Int64?

    /// Creates a source; its owners are its own if it has a name, and otherwise the bare values of the claim.
    package init(name: String? = nil, documents: [MetadataDocument], rules: ClaimRules) {
        self.name = name
        self.documents = documents
        self.rules = rules
        owners = name == nil ? .bare : .own
    }

    /// Returns the full name of a setting of this source: `TASKS_ISSUER`, or `TASKS_SOURCE_EXT_ISSUER`.
    package func setting(_ name: String) -> String {
        guard let source = self.name else { return "TASKS_\(name)" }
        let name = name == "ALLOW_HTTP_AUTHORITY" ? "ALLOW_HTTP" : name
        return "TASKS_SOURCE_\(source.asVariable)_\(name)"
    }

    /// Returns the name of a document in messages: `b2c_1_sign_in`, or `ext: https://…` of a named source.
    func label(of document: MetadataDocument) -> String {
        name.map { "\($0): \(document.name)" } ?? document.name
    }

    /// Returns the setting that names the provider.
    func providerSetting(of document: MetadataDocument) -> String {
        setting(document.rules.demandsOwnIssuer ? "METADATA_URL" : "AUTHORITY")
    }

    func metadataRules(of document: MetadataDocument) -> MetadataRules {
        var metadataRules = document.rules
        metadataRules.keyHosts = keyHosts
        metadataRules.allowsTemplate = rules.tenants != nil
        return metadataRules
    }

    /// The issuers of the documents that are known before any is fetched.
    package var knownIssuers: [String] { documents.compactMap(\.knownIssuer) }

    /// The tenants that the settings name by their GUIDs, each at most once for a document.
    var knownTenants: [String] { documents.compactMap(\.knownTenant) }

    /// Returns whether the tokens of the source are refused at this second since 1970.
    func isClosed(at second: Int64) -> Bool { end.map { $0 <= second } ?? false }
}

/// The place of a token source's owners in the store (P-14).
package enum OwnerNamespace: Sendable, Equatable {
    /// The name of the source and the value: `<name>:<value>`.
    case own
    /// The value alone, as for the source without a name.
    case bare
    /// The namespace of the source of this name, with the same people (P-15).
    case shared(with: String?)
}

/// One metadata document whose keys are trusted, of a provider or of one policy of an Azure AD B2C tenant.
package struct MetadataDocument: Sendable, Equatable {
    /// The policy as configured; nil for a provider without policies.
    package var policy: String?
    /// The address and the rules for the metadata; the source adds the rules for all of its documents.
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
