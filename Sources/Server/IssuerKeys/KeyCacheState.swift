import Basics

/// Everything that the key cache decides, without clock, threads and network: events in, decisions out.
///
/// Times are nanoseconds of the monotonic clock; `chance` is a random number from 0 to 1.
struct KeyCacheState: Sendable {
    /// What to fetch for one source.
    struct Errand: Sendable, Equatable {
        /// The index of the source.
        let source: Int
        /// Whether to fetch metadata too, or the keys only (V-82).
        let withMetadata: Bool
    }

    /// What becomes of a request whose key is unknown.
    enum Demand: Equatable {
        /// It waits for the fetch in the air, or for the one that begins now.
        case wait
        /// It is refused: the provider was asked lately and did not publish the key.
        case refuse
        /// Nobody knows; try again after so many seconds (V-118, V-81).
        case unavailable(retryAfter: Int)
    }

    /// How an errand ended.
    enum Outcome: Equatable {
        case loaded(maxAge: Int?)
        case failed
    }

    let timing: KeyTiming
    private(set) var sources: [SourceState]
    private(set) var isFlying = false
    private(set) var isStopped = false
    private var bucket: TokenBucket
    /// An unknown key asked for a fetch that has not begun.
    private var isDemanded = false
    private var isForced = false
    private var forcedAt: Int64?

    init(count: Int, timing: KeyTiming, now: Int64) {
        self.timing = timing
        sources = Array(repeating: SourceState(now: now), count: count)
        bucket = TokenBucket(capacity: timing.burst, refill: timing.refill.nanoseconds, now: now)
    }

    mutating func restore(source: Int, loadedAt: Int64) {
        sources[source].restore(loadedAt: loadedAt)
    }

    // MARK: What is the case

    func serves(source: Int, now: Int64) -> Bool {
        sources[source].serves(now: now, timing: timing)
    }

    func state(now: Int64) -> KeyState {
        let serving = sources.filter { $0.serves(now: now, timing: timing) }
        guard serving.isEmpty else { return serving.allSatisfy { now < $0.staleAt } ? .fresh : .stale }
        return sources.allSatisfy { $0.loadedAt == nil } ? .empty : .expired
    }

    /// Whether a fetch is in the air or about to begin.
    var isFetchAhead: Bool { isFlying || isDemanded }

    /// Whether the last attempt at any source failed.
    var isDegraded: Bool { sources.contains(where: \.isDegraded) }

    /// When the first of the serving sources will serve no more.
    func servesUntil(now: Int64) -> Int64 {
        sources.filter { $0.serves(now: now, timing: timing) }.compactMap(\.loadedAt).min()
            .map { $0 + timing.trust.nanoseconds } ?? now
    }

    /// When to look again, unless something happens before.
    func nextLook(now: Int64) -> Int64 {
        let attempt = sources.map(\.nextAttempt).min() ?? Int64.max
        return state(now: now).serves ? min(attempt, servesUntil(now: now)) : attempt
    }

    /// After how many seconds a client may try again: 1 to 30 (section 2.9).
    func retryAfter(now: Int64) -> Int {
        guard !isFlying else { return 1 }
        let pause = (sources.map(\.nextAttempt).min() ?? now) - now
        return Int(min(30, max(1, (pause + 999_999_999) / 1_000_000_000)))
    }

    // MARK: What happens

    /// A request came with an unknown key while keys serve; so many others wait already.
    mutating func unknownKey(now: Int64, waiting: Int) -> Demand {
        guard !isStopped else { return .unavailable(retryAfter: 1) }
        if !isFlying, !isDemanded {
            guard bucket.take(now: now) else {
                return isDegraded ? .unavailable(retryAfter: retryAfter(now: now)) : .refuse
            }
            isDemanded = true
        }
        return waiting < timing.mostWaiters ? .wait : .unavailable(retryAfter: 1)
    }

    /// An operator wants fresh keys now (V-90); whether that is granted.
    mutating func force(now: Int64) -> Bool {
        if let forcedAt, now - forcedAt < timing.forcedInterval.nanoseconds { return false }
        forcedAt = now
        isForced = true
        return true
    }

    /// What to fetch now, all in one flight; the flight is in the air until ``land(_:now:chance:)`` (V-77).
    mutating func takeOff(now: Int64) -> [Errand] {
        guard !isFlying, !isStopped else { return [] }
        let errands = sources.indices.compactMap { index -> Errand? in
            let isDue = isForced || sources[index].nextAttempt <= now
            guard isDue || isDemanded else { return nil }
            return Errand(source: index, withMetadata: isDue || !serves(source: index, now: now))
        }
        isForced = false
        isDemanded = false
        isFlying = !errands.isEmpty
        return errands
    }

    /// One errand of the flight ended.
    mutating func finish(_ errand: Errand, _ outcome: Outcome, now: Int64, chance: Double) {
        switch outcome {
        case .loaded(let maxAge) where errand.withMetadata:
            sources[errand.source].loaded(now: now, maxAge: maxAge, chance: chance, timing: timing)
        case .loaded: sources[errand.source].loadedKeys(now: now)
        case .failed:
            let longest = state(now: now).serves ? timing.longestBackoff : timing.longestBackoffWithoutKeys
            sources[errand.source].failed(now: now, longestBackoff: longest, chance: chance)
        }
    }

    /// The flight is over.
    mutating func land() {
        isFlying = false
    }

    mutating func stop() {
        isStopped = true
    }
}
