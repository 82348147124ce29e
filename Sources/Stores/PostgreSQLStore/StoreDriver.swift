import Platform
import PostgreSQL
import Tasks

/// The thread that drives all sessions of a store: sends what waits, hands out what arrives, notices what is lost.
final class StoreDriver {
    private let inbox: StoreInbox
    private let connector: StoreConnector
    private let options: PostgreSQLStoreOptions
    private let counts: StoreCounts
    private let links: [StoreLink]
    private let time = SystemTime()
    private var reads = ReadQueue()
    /// By place, see ``StoreInbox/place(of:)``.
    private var writes: [WriteQueue]
    /// Committed, and their callers not told yet.
    private var committed: [any StoreUnit] = []
    private var isClosing = false
    private var lastFailure = "not connected yet"
    /// The reasons that were reported since all was well, or since nothing was.
    private var told: Set<String> = []
    private var isHealthy = false
    /// Of the failure that was reported last.
    private var failureCode: String?
    /// When idempotency keys that are too old are looked for next; monotonic.
    private var nextPruning: UInt64 = 0
    /// The first attempt to connect has ended, one way or the other.
    private var hasTried = false

    init(
        _ inbox: StoreInbox, _ connector: StoreConnector, _ options: PostgreSQLStoreOptions, _ counts: StoreCounts
    ) {
        self.inbox = inbox
        self.connector = connector
        self.options = options
        self.counts = counts
        let (readers, writers) = (max(options.readers, 1), max(options.writers, 1))
        links = (0..<(readers + writers)).map { StoreLink(number: $0, isForWriting: $0 >= readers) }
        writes = Array(repeating: WriteQueue(), count: writers)
    }

    /// Works until the store is closed and everything accepted is answered.
    func run() {
        for link in links { connector.order(for: link.number, notBefore: 0) }
        while true {
            let now = time.monotonicNanoseconds
            take(inbox.take(), at: now)
            dropLate(at: now)
            dispatch(at: now)
            // What is to be tried again would otherwise wait for something else to happen.
            if answerCommitted() { continue }
            if isClosing, reads.isEmpty, writes.allSatisfy(\.isEmpty), links.allSatisfy(\.isQuiet) { break }
            sleepAndServe()
        }
        connector.close()
        for link in links { _ = link.drop(.unavailable(reason: "closed")) }
    }

    private func take(_ contents: StoreInbox.Contents, at now: UInt64) {
        isClosing = contents.isClosed
        for arrival in contents.arrivals { arrive(arrival) }
        for read in contents.reads { reads.append(read, since: now) }
        for write in contents.writes { gather(QueuedWrite(request: write, since: now)) }
    }

    private func gather(_ write: QueuedWrite) {
        writes[inbox.place(of: write.request)].append(write)
    }

    // MARK: Sending

    private func dispatch(at now: UInt64) {
        while !reads.isEmpty, let link = readingLink {
            send(ReadUnit(reads.next(64), options.answers), on: link, at: now)
        }
        for place in writes.indices where !writes[place].isEmpty { sendWrites(from: place, at: now) }
        if now >= nextPruning, !isClosing, let link = readingLink { prune(on: link, at: now) }
        // Without a session nobody waits for one; while the first is being made, they do.
        if hasTried, !links.contains(where: \.isUp) { refuseWaiting(.unavailable(reason: lastFailure)) }
    }

    /// On foreign partitions that would be a transaction of several servers, so it is left to the operator.
    private func prune(on link: StoreLink, at now: UInt64) {
        nextPruning = counts.isOneOwnerOnly ? .max : now + 10_000_000_000
        guard !counts.isOneOwnerOnly else { return }
        send(PruneUnit(at: options.time.wallMilliseconds), on: link, at: now)
    }

    /// Tells callers to come again: all, or those that have waited since before a monotonic time.
    private func refuseWaiting(_ error: StoreError, since limit: UInt64 = .max) {
        for step in reads.removeAll(since: limit) {
            step.refuse(error)
            inbox.answered(step.requests.count)
        }
        for place in writes.indices {
            for write in writes[place].removeAll(since: limit) {
                write.request.refuse(error)
                inbox.answered(1)
            }
        }
    }

    /// The sessions for one purpose; without them all others.
    private func sessions(forWriting: Bool) -> [StoreLink] {
        let up = links.filter(\.isUp)
        let own = up.filter { $0.isForWriting == forWriting }
        return own.isEmpty ? up : own
    }

    private var readingLink: StoreLink? {
        sessions(forWriting: false).filter { $0.readsUnderWay < 2 }.min { $0.readsUnderWay < $1.readsUnderWay }
    }

    private func sendWrites(from place: Int, at now: UInt64) {
        guard let wanted = writingLink(of: place), wanted.writesUnderWay == 0 else { return }
        // Behind foreign partitions a commit covers one owner, as it is atomic on one server only.
        let batch = writes[place].next(options.batch, ofOneOwner: counts.isOneOwnerOnly, at: now)
        guard !batch.isEmpty else { return }
        // Where writes go well, a probe would only leave dead rows.
        let unit = WriteUnit(batch, deadlineMilliseconds: options.deadlineMilliseconds, isProbing: !isHealthy)
        send(unit, on: wanted, at: now)
    }

    /// The link whose turn it is for a place; nothing without any session.
    private func writingLink(of place: Int) -> StoreLink? {
        let usable = sessions(forWriting: true)
        guard !usable.isEmpty else { return nil }
        return usable.first { $0.number == links.count - writes.count + place } ?? usable[place % usable.count]
    }

    private func send(_ unit: any StoreUnit, on link: StoreLink, at now: UInt64) {
        do throws(PostgreSQLError) {
            try link.send(unit, until: now + UInt64(options.deadlineMilliseconds + 1000) * 1_000_000)
        } catch {
            lose(link, error)
        }
    }

    // MARK: Receiving

    private func sleepAndServe() {
        let up = links.filter(\.isUp)
        let milliseconds = inbox.isIdleNow(wakingFor: interest) ? patience : 0
        let ready = inbox.poller.wait(for: up.compactMap(\.interest), milliseconds: milliseconds)
        for (link, isReady) in zip(up, ready) where isReady { serve(link) }
    }

    /// What can be sent when it comes; without a session everything is refused at once.
    private var interest: StoreInbox.Interest {
        guard links.contains(where: \.isUp) else {
            return StoreInbox.Interest(reads: true, writes: writes.map { _ in true })
        }
        return StoreInbox.Interest(
            reads: readingLink != nil, writes: writes.indices.map { isFree($0) })
    }

    private func isFree(_ place: Int) -> Bool { writingLink(of: place)?.writesUnderWay == 0 }

    /// How long nothing needs to be done unless something comes.
    private var patience: Int32 {
        // The end of a transaction that is under way wakes by itself.
        let retries = writes.indices.lazy.filter { self.isFree($0) }.compactMap { self.writes[$0].nextTry }
        let pruning = readingLink == nil ? .max : nextPruning
        let next = min(retries.min() ?? .max, links.map(\.deadline).min() ?? .max, pruning)
        let now = time.monotonicNanoseconds
        return next <= now ? 1 : Int32(min((next - now) / 1_000_000 + 1, 1000))
    }

    private func serve(_ link: StoreLink) {
        do throws(PostgreSQLError) {
            var rollBack = false
            try link.serve { unit in
                if unit.isCommitted { return committed.append(unit) }
                let end = unit.end()
                if end.mustRollBack { rollBack = true }
                finish(unit, end)
            }
            if rollBack { send(RollBackUnit(), on: link, at: time.monotonicNanoseconds) }
        } catch {
            lose(link, error)
        }
    }

    /// Tells the callers of what is committed, when the next transaction is on its way: the server need not wait for that.
    ///
    /// Whether some of them are to be tried again, as there was no room.
    private func answerCommitted() -> Bool {
        let ends = committed.map { ($0, $0.end()) }
        committed = []
        for (unit, end) in ends { finish(unit, end) }
        return ends.contains { !$0.1.writes.isEmpty }
    }

    private func finish(_ unit: any StoreUnit, _ end: UnitEnd) {
        inbox.answered(end.answered)
        counts.note(unit, end)
        if let error = end.error { note(error) }
        if let pruning = unit as? PruneUnit, pruning.mustGoOn { nextPruning = 0 }
        reads.putBack(end.reads)
        for write in end.writes {
            var write = write
            // A little later and not in step with other servers that were in the way; much later where a row stays locked.
            if write.tries > 0 {
                let unit: UInt64 = write.company == .sameOwner ? 100_000_000 : 10_000_000
                let pause = UInt64.random(in: 1_000_000...(UInt64(min(write.tries, 6)) * unit))
                write.notBefore = time.monotonicNanoseconds + pause
            }
            gather(write)
        }
        guard end.hasWritten, !isHealthy else { return }
        isHealthy = true
        if counts.hasFailed { options.observer(.recovered) }
    }

    private func note(_ error: PostgreSQLError) {
        switch error.kind {
        case .retryable, .locked, .transactionFailed: return
        case .unprepared:
            for link in links { link.stopUsingPrepared() }
            connector.stopPreparing()
            return
        case .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other: break
        }
        // Once for a reason, until something could be written again: a log that grows with every request helps nobody.
        guard isHealthy || !counts.hasFailed || error.sqlState != failureCode else { return }
        (isHealthy, counts.hasFailed, failureCode) = (false, true, error.sqlState)
        let reason = error.description
        options.observer(error.kind == .full ? .diskFull(reason: reason) : .commitFailed(reason: reason))
    }

    // MARK: Sessions

    private func arrive(_ arrival: ConnectionArrival) {
        let link = links[arrival.link]
        hasTried = true
        guard let connection = arrival.result.take() else {
            tell(arrival.result.failure?.description ?? "no connection")
            return reconnect(link)
        }
        link.attach(connection, isPrepared: arrival.result.isPrepared && connector.isPreparing)
        lastFailure = "no connection"
        let isFirst = !links.contains { $0.isUp && $0.number != link.number }
        if isFirst || links.allSatisfy(\.isUp) { told = [] }
        if isFirst { options.observer(.connected) }
    }

    private func lose(_ link: StoreLink, _ error: PostgreSQLError) {
        guard link.isUp else { return }
        tell(error.description)
        inbox.answered(link.drop(.unavailable(reason: error.description)))
        reconnect(link)
    }

    /// Why there is no session, once for a reason: a server that goes takes all with it, and each tells the same.
    private func tell(_ reason: String) {
        lastFailure = reason
        guard told.count < 16, told.insert(reason).inserted else { return }
        options.observer(.connectionLost(reason: reason))
    }

    /// At once the first time, then after a tenth of a second, doubling up to two.
    private func reconnect(_ link: StoreLink) {
        let pause = link.failures == 0 ? 0 : min(UInt64(50) << UInt64(min(link.failures, 6)), 2000)
        link.failures += 1
        connector.order(for: link.number, notBefore: time.monotonicNanoseconds + pause * 1_000_000)
    }

    private func dropLate(at now: UInt64) {
        for link in links where link.deadline <= now {
            lose(link, PostgreSQLError(sqlState: nil, message: "no answer within the deadline"))
        }
        let deadline = UInt64(options.deadlineMilliseconds) * 1_000_000
        if now > deadline { refuseWaiting(.overloaded, since: now - deadline) }
    }
}
