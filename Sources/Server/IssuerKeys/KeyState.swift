/// The reliability of the keys (V-70 to V-83); see `docs/keys-and-tokens.md`.
package enum KeyState: String, Sendable, Equatable, CaseIterable {
    /// Nothing was ever loaded, so tokens cannot be verified.
    case empty
    /// The keys were loaded recently.
    case fresh
    /// The keys are due for a refresh, and still verify tokens.
    case stale
    /// The keys are too old to be trusted, so tokens cannot be verified.
    case expired

    /// Whether tokens can be verified.
    package var serves: Bool { self == .fresh || self == .stale }
}
