import Basics
import Tokens

/// The settings of a ``BearerVerifier``, which do not change after the start.
package struct IssuerKeysConfiguration: Sendable, Equatable {
    /// The providers whose tokens are accepted, each closed in itself; at least one.
    package var sources: [TokenSource]
    package var timing = KeyTiming()
    /// The file that keeps the keys over a restart, if one is wanted (V-88).
    package var keyCacheFile: String?
    /// The identifiers of keys that are not trusted at the start, whatever a provider publishes (V-97).
    package var distrustedKeys: [String] = []
    /// The most verified tokens that are cached; 0 turns the cache off (V-106, V-108).
    package var tokenCacheEntries = 10_000
    /// The most bytes that the cached tokens take together.
    package var tokenCacheBytes = 16 << 20

    package init(sources: [TokenSource]) {
        self.sources = sources
    }

    /// Returns the rules for the tokens of a source, with its name, its namespace and its end date.
    func rules(ofSource index: Int) -> ClaimRules {
        var rules = sources[index].rules
        rules.source = sources[index].name
        rules.owner.prefix = ownerPrefix(ofSource: index)
        rules.end = sources[index].end
        return rules
    }

    /// Returns the text before the owner claim in the store: `ext:`, or nothing (P-14).
    package func ownerPrefix(ofSource index: Int) -> String {
        let prefix = { (source: TokenSource) in source.name.map { "\($0):" } ?? "" }
        switch sources[index].owners {
        case .bare: return ""
        case .own: return prefix(sources[index])
        case .shared(let name):
            // ``mistakes`` refuses a source that shares with a source that itself shares.
            guard let other = sources.first(where: { $0.name == name }), other.owners == .own else { return "" }
            return prefix(other)
        }
    }

    /// Returns the index of the source with which this one shares its owners (P-15), if it shares them.
    func sharedSource(of index: Int) -> Int? {
        guard case .shared(let name) = sources[index].owners else { return nil }
        return sources.firstIndex { $0.name == name }
    }

    /// Returns the sources with the same owners as this one, itself among them.
    func sourcesSharingOwners(with index: Int) -> [TokenSource] {
        let shared = sharedSource(of: index) ?? index
        return sources.indices.filter { $0 == shared || sharedSource(of: $0) == shared }.map { sources[$0] }
    }
}

// The rules about several sources (P-2, P-14, P-15), as far as the settings show a mistake.
extension IssuerKeysConfiguration {
    /// The reasons why these sources cannot be served together, each in one line; empty if they can.
    ///
    /// ``SourceRegistry`` refuses mistakes that only the documents show, when they are loaded.
    package var mistakes: [String] {
        sources.indices.flatMap { index in
            sources.indices.prefix(index).flatMap { mistakes(sources[$0], sources[index]) }
                + ownerMistakes(ofSource: index) + templateMistakes(sources[index])
        }
    }

    /// Warnings about settings that work, but probably not as intended.
    package var warnings: [String] {
        sources.flatMap { source -> [String] in
            let accepted = source.rules.audience.accepted
            guard source.rules.isMicrosoft || source.documents.contains(where: { $0.policy != nil }) else {
                // A source with a name takes sub by default.
                guard source.name == nil, source.rules.owner.claim == .objectIdentifier else { return [] }
                return [
                    "\(source.setting("OWNER_CLAIM")): only Microsoft's tokens have oid by themselves; for most other "
                        + "providers it is sub."
                ]
            }
            let setting = source.setting("CLIENT_ID")
            guard accepted.isEmpty || !accepted.allSatisfy({ $0.hasPrefix("api://") }) else {
                return [
                    "\(setting): version 2 tokens never have an audience that begins with api://; add the application "
                        + "id alone."
                ]
            }
            // The ids of Microsoft's applications are GUIDs, perhaps in the address of an API.
            let odd = accepted.filter { identifier in
                GUID.canonical(identifier) == nil && !["api://", "https://"].contains { identifier.hasPrefix($0) }
            }
            return odd.map {
                "\(setting): \($0.printable(64)) is no GUID, as the ids of Microsoft's applications are; copy the "
                    + "application (client) id from the portal"
            }
        }
    }

    /// Returns the mistakes of two sources with one name, one document or one issuer.
    private func mistakes(_ first: TokenSource, _ second: TokenSource) -> [String] {
        guard first.name != second.name else {
            return ["Two sources have the name \(second.name ?? "none"); give each a name of its own."]
        }
        let urls = first.documents.map(\.metadataURL)
        if let document = second.documents.first(where: { document in urls.contains { document.metadataURL == $0 } }) {
            return ["\(second.providerSetting(of: document)): another source has the document \(document.metadataURL)."]
        }
        for issuer in second.knownIssuers {
            guard let other = first.knownIssuers.first(where: { SourceRegistry.overlap($0, issuer) }) else { continue }
            return [
                "\(second.setting("ISSUER")): \(issuer) and \(other) of another source would issue the same tokens; an "
                    + "issuer belongs to one source."
            ]
        }
        return []
    }

    private func ownerMistakes(ofSource index: Int) -> [String] {
        let source = sources[index]
        switch source.owners {
        case .own: return source.name == nil ? ["A source without name has no namespace of its own."] : []
        case .bare: return bareMistakes(source, index)
        case .shared(let name):
            let setting = source.setting("OWNERS")
            guard let shared = sharedSource(of: index), shared != index, !sources[shared].sharesOwners else {
                return ["\(setting): there is no source \(name ?? "without name") with a namespace to share."]
            }
            return sharedMistakes(source, sources[shared], sourcesSharingOwners(with: index), setting)
        }
    }

    private func bareMistakes(_ source: TokenSource, _ index: Int) -> [String] {
        guard sources.count > 1 else { return [] }
        if sources.prefix(index).contains(where: { $0.owners == .bare }) {
            return ["\(source.setting("OWNERS")): another source has bare owners, and only one source can have them."]
        }
        guard !source.rules.owner.claim.isGUID else { return [] }
        return [
            "\(source.setting("OWNER_CLAIM")): without a namespace, and beside other sources, owners must be GUIDs (oid), or "
                + "one of them could have the name of another source's owner."
        ]
    }

    private func sharedMistakes(
        _ source: TokenSource, _ shared: TokenSource, _ group: [TokenSource], _ setting: String
    ) -> [String] {
        guard source.rules.owner.claim == .objectIdentifier, shared.rules.owner.claim == .objectIdentifier else {
            return ["\(setting): owners can be shared only if both sources name them by oid."]
        }
        guard source.rules.tenants == nil, shared.rules.tenants == nil else {
            return [
                "\(setting): a source for many tenants cannot share owners, because an object id is unique in one "
                    + "tenant only."
            ]
        }
        let tenants = Set(group.flatMap(\.knownTenants))
        let hasForeignIssuer = group.flatMap(\.knownIssuers).contains { IssuerTenant.of($0) == nil }
        if tenants.count > 1 || hasForeignIssuer {
            return [
                "\(setting): owners can be shared only within one tenant; the settings name several tenants, or an "
                    + "issuer without a tenant."
            ]
        }
        guard tenants.isEmpty else { return [] }
        let address = source.documents.first.map(source.providerSetting) ?? setting
        return [
            "\(setting): owners can be shared only within a tenant that the settings name: write its id (a GUID) in place "
                + "of its name in \(address), such as https://contoso.ciamlogin.com/<tenant id>."
        ]
    }

    /// Returns a mistake if a template has no list of tenants, since it would accept every tenant (P-5).
    private func templateMistakes(_ source: TokenSource) -> [String] {
        let isOpen = source.knownIssuers.contains(where: IssuerTenant.isTemplate)
        guard isOpen, source.rules.tenants == nil else { return [] }
        return ["\(source.setting("ISSUER")): an issuer with {tenantid} needs \(source.setting("TENANTS"))."]
    }
}
