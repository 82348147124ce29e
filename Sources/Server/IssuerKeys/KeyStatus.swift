/// The keys at one moment, for `/readyz` and `/metrics` (V-165).
package struct KeyStatus: Sendable, Equatable {
    /// How far they can be relied on.
    package var state: KeyState
    /// Whether the last attempt at any source failed.
    package var isDegraded: Bool
    /// The age of the oldest source that serves, in seconds.
    package var ageSeconds: Int?
    /// `kid` of every key that serves; not escaped.
    package var keyIdentifiers: [String]
    /// Why the last attempt that failed did so, while the state is degraded.
    package var lastFailure: String?
    /// How many requests wait for a fetch now.
    package var waiters: Int
    /// What was counted since the start.
    package var counters: KeyCounters
}

/// What the key cache counts.
package struct KeyCounters: Sendable, Equatable {
    /// Loads of a source that succeeded.
    package var loads = 0
    /// Loads of a source that failed.
    package var failures = 0
    /// Flights: exchanges with the providers, of all sources that were due.
    package var flights = 0
    /// What the flights took together, in nanoseconds.
    package var flightNanoseconds: Int64 = 0
    /// Tokens whose key was unknown.
    package var unknownKeys = 0
}

/// The cache of verified tokens at one moment, for `/metrics`.
package struct TokenCacheStatus: Sendable, Equatable {
    /// Look-ups that found a token which was still good.
    package var hits = 0
    /// All other look-ups.
    package var misses = 0
    /// Tokens put out to make room.
    package var evictions = 0
    /// Tokens in it now.
    package var entries = 0
    /// What they take, roughly, in bytes.
    package var bytes = 0
}
