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
