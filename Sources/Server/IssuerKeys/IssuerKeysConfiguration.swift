package import Tokens

/// What a verifier is told once, at the start.
package struct IssuerKeysConfiguration: Sendable, Equatable {
    /// The providers, or the policies of one, whose keys are trusted.
    package var sources: [KeySource]
    /// The rules for claims.
    package var rules: ClaimRules
    /// Times and bounds of the key cache.
    package var timing = KeyTiming()
    /// The file that remembers the keys over a restart, if there shall be one.
    package var keyCacheFile: String?
    /// Key identifiers that are never trusted, whatever the provider says (V-97).
    package var distrustedKeys: [String] = []
    /// The most verified tokens remembered; 0 remembers none.
    package var tokenCacheEntries = 10_000
    /// The most bytes that they take together.
    package var tokenCacheBytes = 16 << 20

    /// These sources and rules, all else as the documentation names it.
    package init(sources: [KeySource], rules: ClaimRules) {
        self.sources = sources
        self.rules = rules
    }
}
