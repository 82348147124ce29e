/// The times and bounds of the key cache (token validation, section 2.7).
package struct KeyTiming: Sendable, Equatable {
    /// After how long keys are fetched anew, less a jitter of up to a tenth (V-87).
    package var refresh: Duration = .seconds(3600)
    /// The shortest time that `Cache-Control: max-age` may make of it (V-89).
    package var shortestRefresh: Duration = .seconds(300)
    /// How long after the last success keys are trusted at all (V-83).
    package var trust: Duration = .seconds(86_400)
    /// The longest pause between attempts after failures.
    package var longestBackoff: Duration = .seconds(60)
    /// The same while there are no keys to judge by (V-72).
    package var longestBackoffWithoutKeys: Duration = .seconds(4)
    /// How many fetches for unknown keys may follow one another.
    package var burst = 2
    /// After how long one more is allowed.
    package var refill: Duration = .seconds(30)
    /// The shortest time between two forced refreshes (V-90).
    package var forcedInterval: Duration = .seconds(5)
    /// How many requests may wait for a fetch (V-81).
    package var mostWaiters = 64
    /// How long each of them waits.
    package var patience: Duration = .seconds(2)

    /// The times that the documentation names.
    package init() {}
}

extension Duration {
    /// Whole nanoseconds, as the monotonic clock counts them.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
