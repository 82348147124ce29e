import Platform

/// The times and bounds of the key cache; see `docs/keys-and-tokens.md`.
package struct KeyTiming: Sendable, Equatable {
    /// The time after which keys are fetched anew, less a jitter of up to a tenth (V-87).
    package var refresh: Duration = .seconds(3600)
    /// The shortest time to which `Cache-Control: max-age` may shorten ``refresh`` (V-89).
    package var shortestRefresh: Duration = .seconds(300)
    /// The time for which keys are trusted after the last load (V-83).
    package var trust: Duration = .seconds(86_400)
    /// The longest pause between attempts after failures.
    package var longestBackoff: Duration = .seconds(60)
    /// The longest pause between attempts while no keys serve (V-72).
    package var longestBackoffWithoutKeys: Duration = .seconds(4)
    /// The refreshes that unknown keys may demand one after the other (V-79).
    package var burst = 2
    /// The time after which unknown keys may demand one more refresh.
    package var refill: Duration = .seconds(30)
    /// The shortest time between two forced refreshes (V-90).
    package var forcedInterval: Duration = .seconds(5)
    /// The most requests that may wait for a refresh (V-81).
    package var mostWaiters = 64
    /// The longest wait of a request for a refresh.
    package var patience: Duration = .seconds(2)

    package init() {}
}

extension TimeSource {
    /// The monotonic clock, signed, because ages may reach back to before the machine started.
    var now: Int64 { Int64(monotonicNanoseconds) }

    /// The wall clock, in whole seconds since 1970.
    var wallSeconds: Int64 { wallMilliseconds / 1000 }
}
