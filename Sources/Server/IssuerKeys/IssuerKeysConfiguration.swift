package import Tokens

/// What a ``BearerVerifier`` needs to know; it does not change after the start.
package struct IssuerKeysConfiguration: Sendable, Equatable {
    /// The providers, or the policies of one, whose keys are trusted.
    package var keySources: [KeySource]
    package var rules: ClaimRules
    package var timing = KeyTiming()
    /// The file that keeps the keys over a restart, if one is wanted (V-88).
    package var keyCacheFile: String?
    /// Key identifiers that are never trusted, whatever the provider publishes (V-97).
    package var distrustedKeys: [String] = []
    /// The most verified tokens that are cached; 0 turns the cache off (V-106, V-108).
    package var tokenCacheEntries = 10_000
    /// The most bytes that they take together.
    package var tokenCacheBytes = 16 << 20

    package init(keySources: [KeySource], rules: ClaimRules) {
        self.keySources = keySources
        self.rules = rules
    }
}
