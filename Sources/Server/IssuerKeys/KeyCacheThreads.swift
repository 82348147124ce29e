internal import Curl
internal import Platform
internal import Synchronization

// The two threads of the cache, and what they do when they wake.
extension KeyCache {
    /// Reads the file, then begins to fetch; returns at once (V-70).
    func start() throws(NamedThread.Failure) {
        readFile()
        guarded.withLock { $0.isRunning = true }
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
            try configuration.checkAgreement(
                of: load.source.issuer, source: errand.source, with: trustedIssuers(now: time.now))
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
