/// The keys at one moment, for `/readyz` and `/metrics` (V-165).
package struct KeyStatus: Sendable, Equatable {
    package var state: KeyState
    /// Whether the last attempt at any metadata document failed.
    package var isDegraded: Bool
    /// The age of the oldest keys that serve, in seconds.
    package var ageSeconds: Int?
    /// The `kid` of every key that serves, not escaped.
    package var keyIdentifiers: [String]
    /// The reason of the last failure, while `isDegraded`.
    package var lastFailure: String?
    /// The number of requests that wait for a refresh now.
    package var waiters: Int
    package var counters: KeyCounters
}

/// The counts of the key cache since the start.
package struct KeyCounters: Sendable, Equatable {
    /// The loads of a metadata document that succeeded.
    package var loads = 0
    /// The loads of a metadata document that failed.
    package var failures = 0
    /// The refreshes, each of all metadata documents that were due.
    package var refreshes = 0
    /// The time of all refreshes together.
    package var refreshNanoseconds: Int64 = 0
    /// The tokens whose key was unknown.
    package var unknownKeys = 0
}
