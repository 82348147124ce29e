import Basics

/// The state of one metadata document: its keys, and its times on the monotonic clock in nanoseconds.
struct DocumentState: Sendable {
    /// The keys that were last loaded and validated, whether they still serve or not.
    private(set) var keys: LoadedKeys?
    /// The time of that load: by the monotonic clock, for its age, and in milliseconds since 1970, for the key file.
    private(set) var loadedAt: Int64?
    private(set) var fetchedAt: Int64 = 0
    /// The time at which the keys become stale.
    private(set) var staleAt: Int64
    /// The time at which the next attempt is due.
    private(set) var nextAttempt: Int64
    /// The attempts that failed since metadata and keys were last loaded.
    private var failures = 0
    /// Whether the last attempt of any kind failed.
    private(set) var isDegraded = false

    /// Creates the state of an unknown document, which is due at once.
    init(now: Int64) {
        staleAt = now
        nextAttempt = now
    }

    /// Takes keys from the key file, which are stale and as old as the file says (V-88).
    mutating func restore(_ keys: LoadedKeys, fetchedAt: Int64, loadedAt: Int64) {
        self.keys = keys
        self.fetchedAt = fetchedAt
        self.loadedAt = loadedAt
    }

    func serves(now: Int64, timing: KeyTiming) -> Bool {
        loadedAt.map { now < $0 + timing.trust.nanoseconds } ?? false
    }

    /// Puts off the next refresh, because metadata and keys were loaded.
    ///
    /// It is due after the usual time, or after `maxAge` seconds if that is shorter (V-89), less up to a tenth (V-87).
    mutating func refreshed(now: Int64, maxAge: Int?, chance: Double, timing: KeyTiming) {
        var pause = timing.refresh.nanoseconds
        if let maxAge {
            pause = min(pause, max(Int64(maxAge) * 1_000_000_000, timing.shortestRefresh.nanoseconds))
        }
        staleAt = now + pause - Int64(Double(pause) * 0.1 * chance)
        nextAttempt = staleAt
        failures = 0
    }

    /// Takes keys that were loaded, with the metadata or alone; a load of keys alone does not put off that of
    /// metadata.
    mutating func loaded(_ keys: LoadedKeys, fetchedAt: Int64, now: Int64) {
        self.keys = keys
        self.fetchedAt = fetchedAt
        loadedAt = now
        isDegraded = false
    }

    /// Notes a failed attempt, which changes only the time of the next attempt (V-80).
    ///
    /// The next attempt is due after 1, 2, 4 and so on seconds, give or take a fifth, or after the longest backoff.
    mutating func failed(now: Int64, longestBackoff: Duration, chance: Double) {
        failures += 1
        isDegraded = true
        let pause = min(Int64(1) << min(failures - 1, 20) * 1_000_000_000, longestBackoff.nanoseconds)
        let varied = Int64(Double(pause) * (0.8 + 0.4 * chance))
        nextAttempt = now + min(varied, longestBackoff.nanoseconds)
    }
}
