/// The times and bounds of the key cache (token validation, section 2.7).
public struct KeyTiming: Sendable, Equatable {
    /// After how long keys are fetched anew, less a jitter of up to a tenth (V-87).
    public var refresh: Duration = .seconds(3600)
    /// The shortest time that `Cache-Control: max-age` may make of it (V-89).
    public var shortestRefresh: Duration = .seconds(300)
    /// How long after the last success keys are trusted at all (V-83).
    public var trust: Duration = .seconds(86_400)
    /// The longest pause between attempts after failures.
    public var longestBackoff: Duration = .seconds(60)
    /// The same while there are no keys to judge by (V-72).
    public var longestBackoffWithoutKeys: Duration = .seconds(4)
    /// How many fetches for unknown keys may follow one another.
    public var burst = 2
    /// After how long one more is allowed.
    public var refill: Duration = .seconds(30)
    /// The shortest time between two forced refreshes (V-90).
    public var forcedInterval: Duration = .seconds(5)
    /// How many requests may wait for a fetch (V-81).
    public var mostWaiters = 64
    /// How long each of them waits.
    public var patience: Duration = .seconds(2)

    /// The times that the documentation names.
    public init() {}
}

extension Duration {
    /// Whole nanoseconds, as the monotonic clock counts them.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
