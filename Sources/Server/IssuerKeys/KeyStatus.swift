/// The keys at one moment, for `/readyz` and `/metrics` (V-165).
public struct KeyStatus: Sendable, Equatable {
    /// How far they can be relied on.
    public var state: KeyState
    /// Whether the last attempt at any source failed.
    public var isDegraded: Bool
    /// The age of the oldest source that serves, in seconds.
    public var ageSeconds: Int?
    /// `kid` of every key that serves; not escaped.
    public var keyIdentifiers: [String]
    /// Why the last attempt that failed did so, while the state is degraded.
    public var lastFailure: String?
    /// How many requests wait for a fetch now.
    public var waiters: Int
    /// What was counted since the start.
    public var counters: KeyCounters
}

/// What the key cache counts.
public struct KeyCounters: Sendable, Equatable {
    /// Loads of a source that succeeded.
    public var loads = 0
    /// Loads of a source that failed.
    public var failures = 0
    /// Flights: exchanges with the providers, of all sources that were due.
    public var flights = 0
    /// What the flights took together, in nanoseconds.
    public var flightNanoseconds: Int64 = 0
    /// Tokens whose key was unknown.
    public var unknownKeys = 0
}

/// The cache of verified tokens at one moment, for `/metrics`.
public struct TokenCacheStatus: Sendable, Equatable {
    /// Look-ups that found a token which was still good.
    public var hits = 0
    /// All other look-ups.
    public var misses = 0
    /// Tokens put out to make room.
    public var evictions = 0
    /// Tokens in it now.
    public var entries = 0
    /// What they take, roughly, in bytes.
    public var bytes = 0
}
