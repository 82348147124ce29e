/// The times of one source, on the monotonic clock in nanoseconds.
struct SourceState: Sendable {
    /// When its keys were loaded and validated the last time.
    private(set) var loadedAt: Int64?
    /// From when on its keys are stale.
    private(set) var staleAt: Int64
    /// When the next attempt is due.
    private(set) var nextAttempt: Int64
    /// Attempts that failed since the last whole load.
    private(set) var failures = 0
    /// Whether the last attempt of any kind failed.
    private(set) var isDegraded = false

    /// A source of which nothing is known, due at once.
    init(now: Int64) {
        staleAt = now
        nextAttempt = now
    }

    /// A source whose keys a file remembers: stale, their age counting on (V-88).
    mutating func restore(loadedAt: Int64) {
        self.loadedAt = loadedAt
    }

    func serves(now: Int64, timing: KeyTiming) -> Bool {
        loadedAt.map { now < $0 + timing.trust.nanoseconds } ?? false
    }

    /// Metadata and keys were loaded.
    mutating func loaded(now: Int64, maxAge: Int?, chance: Double, timing: KeyTiming) {
        var pause = timing.refresh.nanoseconds
        if let maxAge {
            pause = min(pause, max(Int64(maxAge) * 1_000_000_000, timing.shortestRefresh.nanoseconds))
        }
        staleAt = now + pause - Int64(Double(pause) * 0.1 * chance)
        nextAttempt = staleAt
        failures = 0
        loadedKeys(now: now)
    }

    /// Keys alone were loaded; when metadata is due does not change.
    mutating func loadedKeys(now: Int64) {
        loadedAt = now
        isDegraded = false
    }

    /// An attempt failed: nothing changes but the time of the next (V-80).
    ///
    /// It comes after 1, 2, 4 and so on seconds, give or take a fifth, and never later than the longest backoff.
    mutating func failed(now: Int64, longestBackoff: Duration, chance: Double) {
        failures += 1
        isDegraded = true
        let pause = min(Int64(1) << min(failures - 1, 20) * 1_000_000_000, longestBackoff.nanoseconds)
        let varied = Int64(Double(pause) * (0.8 + 0.4 * chance))
        nextAttempt = now + min(varied, longestBackoff.nanoseconds)
    }
}
