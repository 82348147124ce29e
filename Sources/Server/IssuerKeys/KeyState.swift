/// How far the keys can be relied on (V-70 to V-83); see `docs/keys-and-tokens.md`.
package enum KeyState: String, Sendable, Equatable, CaseIterable {
    /// Nothing was ever loaded: tokens cannot be verified.
    case empty
    /// Loaded recently.
    case fresh
    /// Due for a refresh: tokens are verified.
    case stale
    /// Too old to be trusted: tokens cannot be verified.
    case expired

    /// Whether tokens can be verified.
    package var serves: Bool {
        switch self {
        case .fresh, .stale: true
        case .empty, .expired: false
        }
    }
}
