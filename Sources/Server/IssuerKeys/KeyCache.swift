import Basics
import Curl
import Platform
import Synchronization
import Tokens

/// The keys of one token source, which a thread of its own keeps fresh; readers see immutable snapshots.
///
/// ``KeyCacheState`` decides, and the thread (`keys`) fetches, so there is never more than one exchange with the
/// provider (V-77). Sources share only the file and the list of issuers, so none suffers from another (P-18, P-19).
final class KeyCache: Sendable {
    /// The values that a lock protects; no fetch and no write to the file holds the lock.
    struct Guarded {
        var state: KeyCacheState
        /// The requests that wait for the end of a refresh (V-81).
        var waiters: [TimedWait<Bool>] = []
    }

    /// The objects that all caches of a server share.
    struct Environment: Sendable {
        let configuration: IssuerKeysConfiguration
        /// The identifiers of keys that are not trusted, which an operator may change (V-97).
        let distrusted: DistrustedKeys
        let time: any TimeSource
        let fetcher: any DocumentFetcher
        let chance: @Sendable () -> Double
        let observer: @Sendable (KeyEvent) -> Void
        let registry: SourceRegistry
        let file: KeyFile?
    }

    let source: TokenSource
    /// The index of the source in the settings.
    let index: Int
    let environment: Environment
    let guarded: Mutex<Guarded>
    private let published: PublishedKeys
    private let refresher = RepeatingThread()

    /// Creates the cache of the source with this index.
    init(_ index: Int, _ environment: Environment) {
        self.index = index
        self.environment = environment
        source = environment.configuration.sources[index]
        published = PublishedKeys(knownIssuers: source.knownIssuers)
        let timing = environment.configuration.timing
        guarded = Mutex(
            Guarded(
                state: KeyCacheState(count: source.documents.count, timing: timing, now: environment.time.now)))
    }

    var timing: KeyTiming { environment.configuration.timing }
    var distrusted: [String] { environment.distrusted.identifiers.withLock { $0 } }
    var time: any TimeSource { environment.time }
    var observer: @Sendable (KeyEvent) -> Void { environment.observer }

    // MARK: Start and stop

    /// Begins to fetch; returns at once (V-70).
    func start() throws(SystemError) {
        allowWaits()
        try refresher.start("keys") { self.refreshIfDue() }
    }

    /// Lets requests wait for a refresh; ``refreshIfDue()`` must be called from now on.
    func allowWaits() {
        guarded.withLock { $0.state.start() }
    }

    /// Cancels a fetch, ends all waits, and joins the thread (V-91).
    func stop() {
        endWaits(with: false) { $0.stop() }
        environment.fetcher.cancel()
        refresher.requestStop()
        refresher.join()
    }

    /// Fetches everything anew, unless that was requested a moment ago (V-90); returns whether it will fetch.
    func refreshNow() -> Bool {
        let now = time.now
        let isGranted = guarded.withLock { $0.state.force(now: now) }
        if isGranted { refresher.wake() }
        return isGranted
    }

    // MARK: Reading

    /// Returns whether a token verified under this generation may still be accepted (V-103, V-107).
    func isCurrent(_ generation: UInt64, now: Int64) -> Bool {
        published.isCurrent(generation, now: now)
    }

    /// Returns the snapshot of the keys that are trusted now.
    func current(now: Int64) -> KeySnapshot {
        if published.isExpired(now) { publish(now: now) }
        return published.current
    }

    /// The seconds after which a token can perhaps be verified, while there are no keys.
    var retryAfter: Int {
        let now = time.now
        return guarded.withLock { $0.state.retryAfter(now: now) }
    }

    var status: KeyStatus {
        let now = time.now
        let identifiers = current(now: now).entries.map(\.key.published.keyIdentifier)
        return guarded.withLock { guarded in
            let failures = zip(source.documents, guarded.state.documents).compactMap { document, state in
                state.problem.map { "\(source.label(of: document)): \($0)" }
            }
            return guarded.state.status(
                now: now, keyIdentifiers: identifiers, lastFailure: failures.last, waiters: guarded.waiters.count)
        }
    }

    /// The states of the metadata documents, in the order of the settings.
    var documents: [DocumentState] { guarded.withLock { $0.state.documents } }

    /// Returns whether a token with an unknown issuer and this policy may come from this source (P-13).
    ///
    /// A token may if none of the source's documents was loaded, or if the document of the policy was not.
    func hasUnknownIssuer(forPolicy policy: String?) -> Bool {
        let unknown = zip(documents, source.documents).filter { $0.keys == nil && $1.knownIssuer == nil }.map(\.1)
        guard !unknown.isEmpty else { return false }
        // The document of a policy that does not exist is never loaded, so only tokens of that policy wait for it.
        return unknown.count == source.documents.count || unknown.contains { $0.isOf(policy ?? "") }
    }

    /// Returns whether every document was loaded at or after this time of the monotonic clock, in nanoseconds.
    func isLoaded(since moment: Int64) -> Bool {
        documents.allSatisfy { $0.loadedAt.map { $0 >= moment } ?? false }
    }

    /// Publishes the keys that serve now, because a metadata document is too old, and reports the change of state.
    func publish(now: Int64) {
        guarded.withLock { publish(&$0, now: now) }
        reportStateChange(now: now)
    }

    /// Publishes the keys that serve now, under the lock of the change: no source serves before its keys verify tokens.
    ///
    /// An operator may have distrusted a key after it was loaded.
    func publish(_ guarded: inout Guarded, now: Int64) {
        let distrusted = distrusted
        let serving = zip(guarded.state.servingKeys(now: now), source.documents)
            .compactMap { keys, document in
                keys.map { PublishedDocument(keys: $0.trusted(except: distrusted), policy: document.policy) }
            }
        let issuers = zip(guarded.state.documents, source.documents).compactMap { state, document in
            (state.keys?.issuer ?? document.knownIssuer).map { issuer in
                TokenIssuer(identifier: issuer, policy: document.policy)
            }
        }
        published.publish(serving, issuers: issuers, now: now, until: guarded.state.servesUntil(now: now))
    }

    func reportStateChange(now: Int64) {
        if let change = guarded.withLock({ $0.state.takeStateChange(of: source.name, now: now) }) { observer(change) }
    }

    // MARK: Refused tokens

    /// Decides whether a token that this snapshot refused waits for newer keys, and demands a refresh if it is to.
    ///
    /// The meaning of `earlier` is that in ``KeyCacheState/decide(on:since:now:waiting:)``.
    func decide(
        on reason: RefreshReason, by snapshot: KeySnapshot, since earlier: Int?
    ) -> KeyCacheState.Decision {
        let now = time.now
        let (decision, isLimitNew) = guarded.withLock { guarded in
            // Newer keys than those of the snapshot are published, so the token is checked by them.
            guard published.current.generation == snapshot.generation else {
                return (KeyCacheState.Decision.wait(since: earlier ?? guarded.state.wholeRefreshesBegun), false)
            }
            let wasLimited = guarded.state.isLimited
            let decision = guarded.state.decide(
                on: reason, since: earlier, now: now, waiting: guarded.waiters.count)
            return (decision, guarded.state.isLimited && !wasLimited)
        }
        if isLimitNew { observer(.unknownKeysLimited(source: source.name)) }
        if case .wait = decision { refresher.wake() }
        return decision
    }

    /// Waits for the end of the refresh that runs or is about to begin.
    ///
    /// Returns false if the wait took too long, or if the server stops.
    func refreshEnds() async -> Bool {
        let wait = TimedWait<Bool>()
        let hasEnded = await wait.suspend(for: timing.patience) {
            guarded.withLock { guarded in
                // The refresh may have ended since it was demanded.
                if guarded.state.isStopped || !guarded.state.isRefreshPending {
                    wait.resume(!guarded.state.isStopped)
                } else {
                    guarded.waiters.append(wait)
                }
            }
        }
        guarded.withLock { guarded in guarded.waiters.removeAll { $0 === wait } }
        return hasEnded ?? false
    }

    /// Changes the state in a way that ends a refresh, and resumes the requests that wait for the end.
    private func endWaits(with result: Bool, _ change: (inout KeyCacheState) -> Void) {
        let waiters = guarded.withLock { guarded in
            change(&guarded.state)
            defer { guarded.waiters = [] }
            return guarded.waiters
        }
        for wait in waiters { wait.resume(result) }
    }

    // MARK: Refreshes

    /// Fetches the documents that are due; returns the time of the next check.
    func refreshIfDue() -> Int64 {
        let start = time.now
        let plans = guarded.withLock { $0.state.beginRefresh(now: start) }
        guard !plans.isEmpty else {
            if published.isExpired(start) { publish(now: start) }
            return guarded.withLock { $0.state.nextLook(now: start) }
        }
        var loader = DocumentLoader(
            source: source, fetcher: environment.fetcher, distrusted: distrusted,
            admitted: documents.flatMap { $0.keys?.keys ?? [] })
        var isChanged = false
        for plan in plans where load(plan, with: &loader) { isChanged = true }
        endRefresh()
        if isChanged { writeFile() }
        let end = time.now
        return guarded.withLock { $0.state.nextLook(now: end) }
    }

    /// Loads one metadata document and publishes its keys at once; returns false if that failed.
    private func load(_ plan: KeyCacheState.FetchPlan, with loader: inout DocumentLoader) -> Bool {
        let document = source.documents[plan.document]
        let known = guarded.withLock { $0.state.documents[plan.document].keys }
        do throws(LoadFailure) {
            let load = try loader.load(document, withMetadata: plan.withMetadata, known: known?.metadata)
            try admit(load.keys.issuer, document: plan.document)
            let now = time.now
            let finished = KeyCacheState.FetchPlan(document: plan.document, withMetadata: load.withMetadata)
            let outcome = KeyCacheState.Outcome.loaded(
                load.keys, fetchedAt: time.wallMilliseconds, maxAge: load.maxAge)
            let chance = environment.chance()
            guarded.withLock { guarded in
                guarded.state.finish(finished, outcome, now: now, chance: chance)
                publish(&guarded, now: now)
            }
            for event in load.keys.events(of: source.label(of: document), after: known) { observer(event) }
            reportStateChange(now: now)
            return true
        } catch {
            fail(plan, document, error)
            return false
        }
    }

    private func fail(_ plan: KeyCacheState.FetchPlan, _ document: MetadataDocument, _ failure: LoadFailure) {
        let label = source.label(of: document)
        let (now, chance) = (time.now, environment.chance())
        let seconds = guarded.withLock { guarded in
            guarded.state.finish(
                plan, .failed(reason: failure.message, retryAfter: failure.retryAfter), now: now, chance: chance)
            return (guarded.state.documents[plan.document].nextAttempt - now) / 1_000_000_000
        }
        guard !failure.isCancelled else { return }
        observer(.loadFailed(source: label, reason: failure.message, nextAttemptSeconds: Int(seconds)))
    }

    private func endRefresh() {
        let now = time.now
        endWaits(with: true) { $0.endRefresh(now: now) }
        reportStateChange(now: now)
    }

    /// Refuses an issuer that the other documents of this source, or the other sources, rule out.
    func admit(_ issuer: String, document: Int) throws(LoadFailure) {
        let now = time.now
        let trusted = guarded.withLock { $0.state.servingKeys(now: now).map { $0?.issuer } }
        try source.checkTenant(of: issuer, document: document, trusted: trusted)
        try environment.registry.admit(issuer, source: index, document: document)
    }
}

/// The identifiers of keys that are not trusted, shared by all sources.
final class DistrustedKeys: Sendable {
    let identifiers: Mutex<[String]>

    init(_ identifiers: [String]) { self.identifiers = Mutex(identifiers) }
}

extension MetadataDocument {
    /// Returns whether the document is that of this policy.
    func isOf(_ policy: String) -> Bool { self.policy?.isEqualIgnoringCase(to: policy) ?? false }
}

extension TimeSource {
    /// The monotonic clock, signed, because ages may reach back to before the machine started.
    var now: Int64 { Int64(monotonicNanoseconds) }

    /// The wall clock, in whole seconds since 1970.
    var wallSeconds: Int64 { wallMilliseconds / 1000 }
}
