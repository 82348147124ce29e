import Platform

/// The times and bounds of the key cache; see `docs/keys-and-tokens.md`.
package struct KeyTiming: Sendable, Equatable {
    /// After how long keys are fetched anew, less a jitter of up to a tenth (V-87).
    package var refresh: Duration = .seconds(3600)
    /// The shortest time to which `Cache-Control: max-age` may shorten that (V-89).
    package var shortestRefresh: Duration = .seconds(300)
    /// How long after the last load keys are trusted (V-83).
    package var trust: Duration = .seconds(86_400)
    /// The longest pause between attempts after failures.
    package var longestBackoff: Duration = .seconds(60)
    /// The same while no keys serve (V-72).
    package var longestBackoffWithoutKeys: Duration = .seconds(4)
    /// How many refreshes unknown keys may demand one after the other (V-79).
    package var burst = 2
    /// After how long they may demand one more.
    package var refill: Duration = .seconds(30)
    /// The shortest time between two forced refreshes (V-90).
    package var forcedInterval: Duration = .seconds(5)
    /// How many requests may wait for a refresh (V-81).
    package var mostWaiters = 64
    /// How long each of them waits.
    package var patience: Duration = .seconds(2)

    package init() {}
}

extension Duration {
    /// Whole nanoseconds, as the monotonic clock counts them.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension TimeSource {
    /// The monotonic clock, signed: ages may reach back to before the machine started.
    var now: Int64 { Int64(monotonicNanoseconds) }

    /// The wall clock, in whole seconds since 1970.
    var wallSeconds: Int64 { wallMilliseconds / 1000 }
}
