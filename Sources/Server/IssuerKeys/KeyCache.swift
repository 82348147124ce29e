internal import Platform
internal import Synchronization
internal import Tokens

/// The keys of all sources, kept fresh by a thread of its own; readers see immutable snapshots.
///
/// ``KeyCacheState`` decides, this acts: one thread (`keys`) fetches, so there is never more than one exchange with the
/// providers (V-77); another (`key-waits`) ends waits that take too long while the first sits in a fetch.
final class KeyCache: Sendable {
    /// What the lock protects; nobody fetches, writes files or resumes requests while holding it.
    struct Guarded {
        var state: KeyCacheState
        var loaded: [LoadedSource?]
        var fetchedAt: [Int64]
        var waiters = KeyWaiters()
        var counters = KeyCounters()
        var lastFailure: String?
        var reportedState = KeyState.empty
        var isLimitReported = false
        /// Somebody fetches; without, a wait for a fetch would have no end.
        var isRunning = false
        var threads: [NamedThread] = []
    }

    let configuration: IssuerKeysConfiguration
    let time: any TimeSource
    let fetcher: any DocumentFetcher
    let observer: @Sendable (KeyEvent) -> Void
    let chance: @Sendable () -> Double
    let guarded: Mutex<Guarded>
    private let snapshot = Mutex(KeySnapshot.empty)
    /// The generation of the snapshot, and from when on it must not be used: all that a hit of the token cache asks.
    private let generation = Atomic<UInt64>(0)
    private let servesUntil = Atomic<Int64>(Int64.min)
    let fetches = Wakeup()
    let waits = Wakeup()

    init(
        _ configuration: IssuerKeysConfiguration, time: any TimeSource, fetcher: any DocumentFetcher,
        chance: @escaping @Sendable () -> Double, observer: @escaping @Sendable (KeyEvent) -> Void
    ) {
        self.configuration = configuration
        self.time = time
        self.fetcher = fetcher
        self.observer = observer
        self.chance = chance
        let count = configuration.sources.count
        guarded = Mutex(
            Guarded(
                state: KeyCacheState(count: count, timing: configuration.timing, now: time.now),
                loaded: Array(repeating: nil, count: count), fetchedAt: Array(repeating: 0, count: count)))
    }

    // MARK: Reading

    /// Whether a token verified under this generation may still be believed (V-103, V-107).
    func isCurrent(_ generation: UInt64, now: Int64) -> Bool {
        self.generation.load(ordering: .acquiring) == generation && now < servesUntil.load(ordering: .acquiring)
    }

    /// The keys that are trusted now.
    func current(now: Int64) -> KeySnapshot {
        if isOver(now) { republish(now: now) }
        return snapshot.withLock { $0 }
    }

    /// Whether the snapshot holds something that is too old.
    func isOver(_ now: Int64) -> Bool {
        let end = servesUntil.load(ordering: .acquiring)
        return end != Int64.min && end <= now
    }

    /// Makes the snapshot of what serves now; called after each load, and when a source has become too old.
    func republish(now: Int64) {
        let change = guarded.withLock { guarded in
            let serving = guarded.loaded.indices.compactMap { index -> (LoadedSource, policy: String?)? in
                guard let source = guarded.loaded[index], guarded.state.serves(source: index, now: now) else {
                    return nil
                }
                return (source, configuration.sources[index].policy)
            }
            publish(serving, until: serving.isEmpty ? Int64.min : guarded.state.servesUntil(now: now))
            return guarded.stateChange(now: now)
        }
        if let change { observer(change) }
    }

    /// Called with the lock of `guarded` held, so that two publications cannot overtake each other.
    private func publish(_ sources: [(LoadedSource, policy: String?)], until: Int64) {
        snapshot.withLock { snapshot in
            // Entries of the token cache die with the generation, so it changes before the keys are used.
            snapshot = snapshot.successor(sources: sources, servesUntil: until)
            generation.store(snapshot.generation, ordering: .releasing)
            servesUntil.store(until, ordering: .releasing)
        }
    }

    // MARK: Waiting

    /// How the search for an unknown key ended.
    enum Search: Equatable {
        /// The provider was asked; look again.
        case lookAgain
        /// Look again; if it is still missing, nobody knows whether it exists.
        case uncertain(retryAfter: Int)
    }

    /// Has the providers asked for a key that is in no snapshot, if the limits allow, and waits for that (V-79, V-81).
    func search() async -> Search {
        let now = time.now
        let demand = guarded.withLock { guarded -> KeyCacheState.Demand in
            guarded.counters.unknownKeys += 1
            guard guarded.isRunning else { return .refuse }
            return guarded.state.unknownKey(now: now, waiting: guarded.waiters.count)
        }
        switch demand {
        case .refuse:
            if guarded.withLock({ $0.isRunning }) { reportLimit() }
            return .lookAgain
        case .unavailable(let seconds): return .uncertain(retryAfter: seconds)
        case .wait: break
        }
        fetches.wake()
        switch await wait(deadline: now + configuration.timing.patience.nanoseconds) {
        case .gaveUp: return .uncertain(retryAfter: 1)
        case .landed: return guarded.withLock { $0.searchAfterLanding(now: time.now) }
        }
    }

    func wait(deadline: Int64) async -> KeyWaiters.End {
        await withCheckedContinuation { continuation in
            let end = guarded.withLock { guarded -> KeyWaiters.End? in
                if guarded.state.isStopped { return .gaveUp }
                // The fetch may have ended since the demand.
                guard guarded.state.isFetchAhead else { return .landed }
                guarded.waiters.append(continuation, deadline: deadline)
                return nil
            }
            if let end { continuation.resume(returning: end) } else { waits.wake() }
        }
    }

    private func reportLimit() {
        let isNew = guarded.withLock { guarded in
            defer { guarded.isLimitReported = true }
            return !guarded.isLimitReported
        }
        if isNew { observer(.unknownKeysLimited) }
    }

    /// Ends the waits whose time is over; when to look again.
    func endWaits() -> Int64? {
        let now = time.now
        let (expired, next) = guarded.withLock { guarded in
            (guarded.waiters.takeExpired(now: now), guarded.waiters.firstDeadline)
        }
        for continuation in expired { continuation.resume(returning: .gaveUp) }
        return next
    }
}

extension KeyCache.Guarded {
    /// The state's change since it was reported last.
    mutating func stateChange(now: Int64) -> KeyEvent? {
        let state = state.state(now: now)
        guard state != reportedState else { return nil }
        defer { reportedState = state }
        return .stateChanged(from: reportedState, to: state)
    }

    /// V-118: a key that a failed fetch did not bring may exist all the same.
    func searchAfterLanding(now: Int64) -> KeyCache.Search {
        state.isDegraded ? .uncertain(retryAfter: state.retryAfter(now: now)) : .lookAgain
    }
}

extension TimeSource {
    /// The monotonic clock, signed: ages may reach back to before the machine started.
    var now: Int64 { Int64(monotonicNanoseconds) }
}
