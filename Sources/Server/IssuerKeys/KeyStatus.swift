/// The keys at one moment, for `/readyz` and `/metrics` (V-165).
package struct KeyStatus: Sendable, Equatable {
    package var state: KeyState
    /// Whether the last attempt at any metadata document failed.
    package var isDegraded: Bool
    /// The age of the oldest keys that serve, in seconds.
    package var ageSeconds: Int?
    /// `kid` of every key that serves; not escaped.
    package var keyIdentifiers: [String]
    /// Why the last failed attempt failed, while `isDegraded`.
    package var lastFailure: String?
    /// How many requests wait for a refresh now.
    package var waiters: Int
    package var counters: KeyCounters
}

/// What the key cache has counted since the start.
package struct KeyCounters: Sendable, Equatable {
    /// Loads of a metadata document that succeeded.
    package var loads = 0
    /// Loads of a metadata document that failed.
    package var failures = 0
    /// Refreshes, each of all metadata documents that were due.
    package var refreshes = 0
    /// What the refreshes took together.
    package var refreshNanoseconds: Int64 = 0
    /// Tokens whose key was unknown.
    package var unknownKeys = 0
}
