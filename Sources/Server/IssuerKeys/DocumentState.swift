/// What is known of one metadata document: its keys, and its times on the monotonic clock in nanoseconds.
struct DocumentState: Sendable {
    /// What was loaded and validated last, whether it still serves or not.
    private(set) var keys: LoadedKeys?
    /// When that was loaded: by the monotonic clock, for its age, and in milliseconds since 1970, for the key file.
    private(set) var loadedAt: Int64?
    private(set) var fetchedAt: Int64 = 0
    /// When the keys become stale.
    private(set) var staleAt: Int64
    /// When the next attempt is due.
    private(set) var nextAttempt: Int64
    /// Attempts that failed since metadata and keys were loaded last.
    private var failures = 0
    /// Whether the last attempt of any kind failed.
    private(set) var isDegraded = false

    /// A metadata document of which nothing is known, due at once.
    init(now: Int64) {
        staleAt = now
        nextAttempt = now
    }

    /// Takes keys from the key file: stale, and as old as the file says (V-88).
    mutating func restore(_ keys: LoadedKeys, fetchedAt: Int64, loadedAt: Int64) {
        self.keys = keys
        self.fetchedAt = fetchedAt
        self.loadedAt = loadedAt
    }

    func serves(now: Int64, timing: KeyTiming) -> Bool {
        loadedAt.map { now < $0 + timing.trust.nanoseconds } ?? false
    }

    /// Metadata and keys were loaded, so the next refresh is put off.
    ///
    /// It is due after the usual time, or sooner if `maxAge` (seconds) says so (V-89), less a jitter of up to a tenth
    /// (V-87).
    mutating func refreshed(now: Int64, maxAge: Int?, chance: Double, timing: KeyTiming) {
        var pause = timing.refresh.nanoseconds
        if let maxAge {
            pause = min(pause, max(Int64(maxAge) * 1_000_000_000, timing.shortestRefresh.nanoseconds))
        }
        staleAt = now + pause - Int64(Double(pause) * 0.1 * chance)
        nextAttempt = staleAt
        failures = 0
    }

    /// Keys were loaded, with the metadata or alone.
    ///
    /// Alone, they do not change when metadata is due.
    mutating func loaded(_ keys: LoadedKeys, fetchedAt: Int64, now: Int64) {
        self.keys = keys
        self.fetchedAt = fetchedAt
        loadedAt = now
        isDegraded = false
    }

    /// An attempt failed: only the time of the next attempt changes (V-80).
    ///
    /// It is due after 1, 2, 4 and so on seconds, give or take a fifth, and never later than the longest backoff.
    mutating func failed(now: Int64, longestBackoff: Duration, chance: Double) {
        failures += 1
        isDegraded = true
        let pause = min(Int64(1) << min(failures - 1, 20) * 1_000_000_000, longestBackoff.nanoseconds)
        let varied = Int64(Double(pause) * (0.8 + 0.4 * chance))
        nextAttempt = now + min(varied, longestBackoff.nanoseconds)
    }
}
