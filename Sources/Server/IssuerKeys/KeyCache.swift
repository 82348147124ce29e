internal import Curl
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
    private let fetches = Wakeup()
    private let waits = Wakeup()

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
    private func isOver(_ now: Int64) -> Bool {
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
        let demand = guarded.withLock { guarded in
            guarded.counters.unknownKeys += 1
            return guarded.state.unknownKey(now: now, waiting: guarded.waiters.count)
        }
        switch demand {
        case .refuse:
            reportLimit()
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

    // MARK: Running

    /// Reads the file, then begins to fetch; returns at once (V-70).
    func start() throws(NamedThread.Failure) {
        readFile()
        let threads =
            try [NamedThread.start("keys") { self.fetchForever() }]
            + [NamedThread.start("key-waits") { self.endWaitsForever() }]
        guarded.withLock { $0.threads = threads }
    }

    /// Cancels a fetch, resumes everybody who waits, and ends the threads (V-91).
    func stop() {
        let (waiting, threads) = guarded.withLock { guarded in
            guarded.state.stop()
            defer { guarded.threads = [] }
            return (guarded.waiters.takeAll(), guarded.threads)
        }
        fetcher.cancel()
        for continuation in waiting { continuation.resume(returning: .gaveUp) }
        fetches.wake()
        waits.wake()
        for thread in threads { thread.join() }
    }

    /// Fetches everything anew, unless that was asked for a moment ago (V-90); whether it will.
    func refreshNow() -> Bool {
        let now = time.now
        let isGranted = guarded.withLock { $0.state.force(now: now) }
        if isGranted { fetches.wake() }
        return isGranted
    }

    private func fetchForever() {
        while !guarded.withLock({ $0.state.isStopped }) {
            let next = fetchWhatIsDue()
            _ = fetches.wait(untilMonotonicNanoseconds: UInt64(max(0, next)))
        }
    }

    private func endWaitsForever() {
        while !guarded.withLock({ $0.state.isStopped }) {
            if let next = endWaits() {
                _ = waits.wait(untilMonotonicNanoseconds: UInt64(max(0, next)))
            } else {
                waits.wait()
            }
        }
    }

    /// Flies, if something is due; when to look again.
    func fetchWhatIsDue() -> Int64 {
        let start = time.now
        let errands = guarded.withLock { $0.state.takeOff(now: start) }
        guard !errands.isEmpty else {
            if isOver(start) { republish(now: start) }
            return guarded.withLock { $0.state.nextLook(now: start) }
        }
        var loader = SourceLoader(fetcher: fetcher, distrusted: configuration.distrustedKeys)
        var isChanged = false
        for errand in errands where run(errand, &loader) { isChanged = true }
        land(since: start)
        if isChanged { writeFile() }
        return guarded.withLock { $0.state.nextLook(now: time.now) }
    }

    /// Loads one source and publishes it at once; whether that went well.
    private func run(_ errand: KeyCacheState.Errand, _ loader: inout SourceLoader) -> Bool {
        let source = configuration.sources[errand.source]
        let known = guarded.withLock { $0.loaded[errand.source] }
        do throws(LoadFailure) {
            let load = try loader.load(source, withMetadata: errand.withMetadata, known: known)
            let finished = KeyCacheState.Errand(source: errand.source, withMetadata: load.withMetadata)
            let now = time.now
            guarded.withLock { guarded in
                guarded.loaded[errand.source] = load.source
                guarded.fetchedAt[errand.source] = time.wallMilliseconds
                guarded.counters.loads += 1
                guarded.state.finish(finished, .loaded(maxAge: load.maxAge), now: now, chance: chance())
            }
            report(load.source, of: source, after: known)
            republish(now: now)
            return true
        } catch {
            fail(errand, source, error)
            return false
        }
    }

    private func fail(_ errand: KeyCacheState.Errand, _ source: KeySource, _ failure: LoadFailure) {
        let now = time.now
        let seconds = guarded.withLock { guarded in
            guarded.counters.failures += 1
            guarded.lastFailure = "\(source.name): \(failure.words)"
            guarded.state.finish(errand, .failed, now: now, chance: chance())
            return (guarded.state.sources[errand.source].nextAttempt - now) / 1_000_000_000
        }
        guard failure.outOfReach != .cancelled else { return }
        observer(.loadFailed(source: source.name, reason: failure.words, nextAttemptSeconds: Int(seconds)))
    }

    private func land(since start: Int64) {
        let now = time.now
        let (waiting, change) = guarded.withLock { guarded in
            guarded.state.land()
            guarded.isLimitReported = false
            guarded.counters.flights += 1
            guarded.counters.flightNanoseconds += now - start
            return (guarded.waiters.takeAll(), guarded.stateChange(now: now))
        }
        if let change { observer(change) }
        for continuation in waiting { continuation.resume(returning: .landed) }
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
