import Basics
package import Tokens

/// One configured provider, closed in itself: its documents, and the rules for its tokens.
///
/// Keys, issuers, audiences and owners of one token source mean nothing for another (P-10 to P-14).
package struct TokenSource: Sendable, Equatable {
    /// Letters, digits and dashes; nothing for the source of the settings without name, `TASKS_AUTHORITY` and the like.
    package var name: String?
    /// One for each policy, or one for each metadata URL; all of one tenant.
    package var documents: [MetadataDocument]
    /// Audiences, claims, times; the name, the namespace of owners and the end date are put into it from the rest.
    package var rules: ClaimRules
    package var owners: OwnerNamespace
    /// Hosts from which keys may come, besides those of the documents (P-6).
    package var keyHosts: [String] = []
    /// From when on its tokens are refused, in seconds since 1970 (P-31).
    package var end: Int64?

    /// A source; its owners are its own if it has a name, and the bare values of the claim if not.
    package init(name: String? = nil, documents: [MetadataDocument], rules: ClaimRules) {
        self.name = name
        self.documents = documents
        self.rules = rules
        owners = name == nil ? .bare : .own
    }

    /// What the setting of this source is called: `TASKS_ISSUER`, or `TASKS_SOURCE_EXT_ISSUER`.
    package func setting(_ name: String) -> String {
        guard let source = self.name else { return "TASKS_\(name)" }
        let name = name == "ALLOW_HTTP_AUTHORITY" ? "ALLOW_HTTP" : name
        return "TASKS_SOURCE_\(source.asVariable)_\(name)"
    }

    /// The name of a document in messages: `b2c_1_sign_in`, or `ext: https://…` of a named source.
    func label(of document: MetadataDocument) -> String {
        name.map { "\($0): \(document.name)" } ?? document.name
    }

    /// The setting that names the provider.
    func providerSetting(of document: MetadataDocument) -> String {
        setting(document.demandsOwnIssuer ? "METADATA_URL" : "AUTHORITY")
    }

    func metadataRules(of document: MetadataDocument) -> MetadataRules {
        MetadataRules(
            metadataURL: document.metadataURL, pinnedIssuer: document.pinnedIssuer,
            tenantIdentifier: document.tenantIdentifier, allowHTTP: document.allowHTTP,
            demandsOwnIssuer: document.demandsOwnIssuer, keyHosts: keyHosts, allowsTemplate: rules.tenants != nil)
    }

    /// The issuers of its documents, as far as they are known before any is fetched.
    package var knownIssuers: [String] { documents.compactMap(\.knownIssuer) }

    /// The tenants that the settings name by their GUIDs; each at most once for a document.
    var knownTenants: [String] { documents.compactMap(\.knownTenant) }

    /// Whether its tokens are refused at this second since 1970.
    func isClosed(at second: Int64) -> Bool { end.map { $0 <= second } ?? false }
}

/// Where the owners of a token source are in the store (P-14).
package enum OwnerNamespace: Sendable, Equatable {
    /// `<name>:<value>`.
    case own
    /// The value alone, as the source without name has it.
    case bare
    /// That of another source, of this name; the people of both are the same (P-15).
    case shared(with: String?)
}
