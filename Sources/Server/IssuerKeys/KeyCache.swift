import Basics
import Curl
import Platform
import Synchronization
import Tokens

/// The keys of all key sources, kept fresh by a thread of its own; readers see immutable snapshots.
///
/// ``KeyCacheState`` decides; this has the lock, the threads and the fetcher. One thread (`keys`) fetches, so there is
/// never more than one exchange with the providers (V-77); another (`key-waits`) ends waits that take too long while the
/// first is blocked in a fetch.
final class KeyCache: Sendable {
    /// What the lock protects.
    ///
    /// Fetches, writes to the file and resumptions of requests happen without the lock.
    private struct Guarded {
        var state: KeyCacheState
        var waiters = KeyWaiters()
    }

    private let configuration: IssuerKeysConfiguration
    private let time: any TimeSource
    private let fetcher: any DocumentFetcher
    private let chance: @Sendable () -> Double
    private let observer: @Sendable (KeyEvent) -> Void
    private let guarded: Mutex<Guarded>
    private let published = PublishedKeys()
    private let refresher = LoopThread()
    private let waitEnder = LoopThread()

    init(
        _ configuration: IssuerKeysConfiguration, time: any TimeSource, fetcher: any DocumentFetcher,
        chance: @escaping @Sendable () -> Double, observer: @escaping @Sendable (KeyEvent) -> Void
    ) {
        self.configuration = configuration
        self.time = time
        self.fetcher = fetcher
        self.chance = chance
        self.observer = observer
        guarded = Mutex(
            Guarded(
                state: KeyCacheState(
                    count: configuration.keySources.count, timing: configuration.timing, now: time.now)))
    }

    // MARK: Start and stop

    /// Reads the file, then begins to fetch; returns at once (V-70).
    func start() throws(NamedThread.Failure) {
        readFile()
        allowWaits()
        try refresher.start("keys") { self.refreshIfDue() }
        try waitEnder.start("key-waits") { self.endOverdueWaits() }
    }

    /// From now on requests may wait for a refresh, because ``refreshIfDue()`` and ``endOverdueWaits()`` are called.
    func allowWaits() {
        guarded.withLock { $0.state.start() }
    }

    /// Cancels a fetch, ends all waits, and joins the threads (V-91).
    func stop() {
        let waiting = guarded.withLock { guarded in
            guarded.state.stop()
            return guarded.waiters.takeAll()
        }
        fetcher.cancel()
        for continuation in waiting { continuation.resume(returning: .abandoned) }
        for thread in [refresher, waitEnder] { thread.requestStop() }
        for thread in [refresher, waitEnder] { thread.join() }
    }

    /// Fetches everything anew, unless that was requested a moment ago (V-90); returns whether it will.
    func refreshNow() -> Bool {
        let now = time.now
        let isGranted = guarded.withLock { $0.state.force(now: now) }
        if isGranted { refresher.wake() }
        return isGranted
    }

    // MARK: Reading

    /// Whether a token verified under this generation may still be accepted (V-103, V-107).
    func isCurrent(_ generation: UInt64, now: Int64) -> Bool {
        published.isCurrent(generation, now: now)
    }

    /// The keys that are trusted now.
    func current(now: Int64) -> KeySnapshot {
        if published.isExpired(now) { publish(now: now) }
        return published.current
    }

    /// After how many seconds a token can perhaps be verified, while there are no keys.
    var retryAfter: Int {
        let now = time.now
        return guarded.withLock { $0.state.retryAfter(now: now) }
    }

    var status: KeyStatus {
        let now = time.now
        let identifiers = current(now: now).entries.map(\.key.published.keyIdentifier)
        return guarded.withLock {
            $0.state.status(now: now, keyIdentifiers: identifiers, waiters: $0.waiters.count)
        }
    }

    /// Publishes what serves now: after each load, and when a key source has become too old.
    private func publish(now: Int64) {
        let change = guarded.withLock { guarded in
            let serving = zip(guarded.state.servingKeys(now: now), configuration.keySources)
                .compactMap { keys, source in keys.map { (keys: $0, policy: source.policy) } }
            published.publish(serving, until: serving.isEmpty ? Int64.min : guarded.state.servesUntil(now: now))
            return guarded.state.takeStateChange(now: now)
        }
        if let change { observer(change) }
    }

    // MARK: Unknown keys

    /// How the search for an unknown key ended.
    enum SearchResult: Equatable {
        /// What the providers publish is known now; a key that is still missing does not exist.
        case complete
        /// A key that is still missing may exist all the same.
        case inconclusive(retryAfter: Int)
    }

    /// Demands a refresh for a key that is in no snapshot, if the limits allow, and waits for that (V-79, V-81).
    func searchUnknownKey() async -> SearchResult {
        let now = time.now
        let (demand, isReported) = guarded.withLock { guarded in
            let demand = guarded.state.unknownKey(now: now, waiting: guarded.waiters.count)
            return (demand, demand == .refuse && guarded.state.takeLimitReport())
        }
        if isReported { observer(.unknownKeysLimited) }
        switch demand {
        case .refuse: return .complete
        case .unavailable(let seconds): return .inconclusive(retryAfter: seconds)
        case .wait: refresher.wake()
        }
        switch await waitForRefresh(since: now) {
        case .abandoned: return .inconclusive(retryAfter: 1)
        case .refreshEnded:
            let now = time.now
            return guarded.withLock { guarded in
                // A key that a failed fetch did not bring may exist all the same (V-118).
                guard guarded.state.isDegraded else { return .complete }
                return .inconclusive(retryAfter: guarded.state.retryAfter(now: now))
            }
        }
    }

    /// Waits for a refresh that runs, and demands none; then whether the last attempt at this policy succeeded.
    ///
    /// A policy that is not configured is always up to date: nothing will ever be known of it.
    func isUpToDate(policy: String) async -> Bool {
        let sources = configuration.keySources.indices.filter { index in
            configuration.keySources[index].policy?.lowercased().utf8.elementsEqual(policy.lowercased().utf8) ?? false
        }
        guard !sources.isEmpty else { return true }
        let mayWait = guarded.withLock { guarded in
            guarded.state.isRefreshPending && guarded.waiters.count < configuration.timing.mostWaiters
        }
        if mayWait { _ = await waitForRefresh(since: time.now) }
        let now = time.now
        return guarded.withLock { guarded in
            !guarded.state.isRefreshPending
                && sources.allSatisfy {
                    guarded.state.serves(source: $0, now: now) && !guarded.state.sources[$0].isDegraded
                }
        }
    }

    private func waitForRefresh(since start: Int64) async -> KeyWaiters.End {
        let deadline = start + configuration.timing.patience.nanoseconds
        return await withCheckedContinuation { continuation in
            let end = guarded.withLock { guarded -> KeyWaiters.End? in
                if guarded.state.isStopped { return .abandoned }
                // The refresh may have ended since it was demanded.
                guard guarded.state.isRefreshPending else { return .refreshEnded }
                guarded.waiters.append(continuation, deadline: deadline)
                return nil
            }
            if let end { continuation.resume(returning: end) } else { waitEnder.wake() }
        }
    }

    /// Ends the waits whose deadline has passed; when to look again.
    func endOverdueWaits() -> Int64? {
        let now = time.now
        let (overdue, next) = guarded.withLock { guarded in
            (guarded.waiters.takeOverdue(now: now), guarded.waiters.firstDeadline)
        }
        for continuation in overdue { continuation.resume(returning: .abandoned) }
        return next
    }

    // MARK: Refreshes

    /// Fetches what is due, if anything is; when to look again.
    func refreshIfDue() -> Int64 {
        let start = time.now
        let plans = guarded.withLock { $0.state.beginRefresh(now: start) }
        guard !plans.isEmpty else {
            if published.isExpired(start) { publish(now: start) }
            return guarded.withLock { $0.state.nextLook(now: start) }
        }
        var loader = KeySourceLoader(fetcher: fetcher, distrusted: configuration.distrustedKeys)
        var isChanged = false
        for plan in plans where load(plan, with: &loader) { isChanged = true }
        endRefresh()
        if isChanged { writeFile() }
        let end = time.now
        return guarded.withLock { $0.state.nextLook(now: end) }
    }

    /// Loads one key source and publishes its keys at once; whether that succeeded.
    private func load(_ plan: KeyCacheState.FetchPlan, with loader: inout KeySourceLoader) -> Bool {
        let source = configuration.keySources[plan.source]
        let known = guarded.withLock { $0.state.sources[plan.source].keys }
        do throws(LoadFailure) {
            let load = try loader.load(source, withMetadata: plan.withMetadata, known: known)
            try configuration.checkTenant(
                of: load.keys.issuer, source: plan.source, trusted: trustedIssuers(now: time.now))
            let now = time.now
            let finished = KeyCacheState.FetchPlan(source: plan.source, withMetadata: load.withMetadata)
            let outcome = KeyCacheState.Outcome.loaded(
                load.keys, fetchedAt: time.wallMilliseconds, maxAge: load.maxAge)
            let chance = chance()
            guarded.withLock { $0.state.finish(finished, outcome, now: now, chance: chance) }
            for event in load.keys.events(of: source.name, after: known) { observer(event) }
            publish(now: now)
            return true
        } catch {
            fail(plan, source, error)
            return false
        }
    }

    private func fail(_ plan: KeyCacheState.FetchPlan, _ source: KeySource, _ failure: LoadFailure) {
        let outcome = KeyCacheState.Outcome.failed(reason: "\(source.name): \(failure.message)")
        let (now, chance) = (time.now, chance())
        let seconds = guarded.withLock { guarded in
            guarded.state.finish(plan, outcome, now: now, chance: chance)
            return (guarded.state.sources[plan.source].nextAttempt - now) / 1_000_000_000
        }
        guard failure.unreachable != .cancelled else { return }
        observer(.loadFailed(source: source.name, reason: failure.message, nextAttemptSeconds: Int(seconds)))
    }

    private func endRefresh() {
        let now = time.now
        let (waiting, change) = guarded.withLock { guarded in
            guarded.state.endRefresh(now: now)
            return (guarded.waiters.takeAll(), guarded.state.takeStateChange(now: now))
        }
        if let change { observer(change) }
        for continuation in waiting { continuation.resume(returning: .refreshEnded) }
    }

    private func trustedIssuers(now: Int64) -> [String?] {
        guarded.withLock { $0.state.servingKeys(now: now).map { $0?.issuer } }
    }

    // MARK: The key file

    /// Takes the keys of the file, if they may be trusted still, as stale (V-88).
    func readFile() {
        guard let path = configuration.keyCacheFile else { return }
        let (now, wall) = (time.now, time.wallMilliseconds)
        do throws(KeyFile.Rejection) {
            let records = try KeyFile(path: path).read(
                configuration.keySources, distrusted: configuration.distrustedKeys, now: wall,
                trust: configuration.timing.trust)
            let taken = records.indices.filter { take(records[$0], source: $0, now: now, wall: wall) }
            guard !taken.isEmpty else { return }
            observer(.fileRead(sources: taken.count))
            publish(now: now)
        } catch {
            observer(.fileIgnored(reason: error.reason))
        }
    }

    private func take(
        _ result: Result<KeyFile.Record, KeyFile.Rejection>?, source: Int, now: Int64, wall: Int64
    ) -> Bool {
        guard let result else { return false }
        do throws(KeyFile.Rejection) {
            let record = try result.get()
            let name = configuration.keySources[source].name
            try rethrowing(as: { KeyFile.Rejection(reason: "\(name): \($0.message)") }) { () throws(LoadFailure) in
                try configuration.checkTenant(
                    of: record.keys.issuer, source: source, trusted: trustedIssuers(now: now))
            }
            guarded.withLock { guarded in
                guarded.state.restore(
                    record.keys, source: source, fetchedAt: record.fetchedAt,
                    loadedAt: now - (wall - record.fetchedAt) * 1_000_000)
            }
            return true
        } catch {
            observer(.fileIgnored(reason: error.reason))
            return false
        }
    }

    private func writeFile() {
        guard let path = configuration.keyCacheFile else { return }
        let sources = guarded.withLock { $0.state.sources }
        let records = zip(sources, configuration.keySources).compactMap { state, source in
            state.keys.map {
                KeyFile.Record(metadataURL: source.metadataURL, keys: $0, fetchedAt: state.fetchedAt)
            }
        }
        do throws(SystemError) {
            try KeyFile(path: path).write(records)
        } catch {
            observer(.fileNotWritten(reason: error.description))
        }
    }
}
