/// How far the keys can be relied on (V-70 to V-83).
package enum KeyState: String, Sendable, Equatable, CaseIterable {
    /// Nothing was ever loaded; tokens cannot be judged.
    case empty
    /// Loaded lately.
    case fresh
    /// Due for a refresh; tokens are judged.
    case stale
    /// Too old to be trusted; tokens cannot be judged.
    case expired

    /// Whether tokens can be judged.
    package var serves: Bool {
        switch self {
        case .fresh, .stale: true
        case .empty, .expired: false
        }
    }
}
