import Platform
import PostgreSQL
import Tasks

/// The thread that drives all sessions of a store: sends requests, hands out outcomes, notices lost sessions.
///
/// What to send is decided by ``ReadQueue`` and ``WriteQueue``, what an outcome means by the ``Batch``, what is tried again by
/// ``RetryPolicy``; the driver moves these values between the queues and the sessions.
final class SessionDriver {
    private let queue: RequestQueue
    private let connector: PostgreSQLConnector
    private let options: PostgreSQLStoreOptions
    private let counts: PostgreSQLCounts
    /// A transaction may not cover owners of several servers.
    private let isOneOwnerOnly: Bool
    private let sessions: [Session]
    private let time = SystemTime()
    private var random = SystemRandomNumberGenerator()
    private var reads = ReadQueue()
    /// By lane, see ``RequestQueue/lane(of:)``.
    private var writes: [WriteQueue]
    /// Committed, and their callers not answered yet.
    private var committed: [any Batch] = []
    private var reports = FailureReports()
    private var isClosing = false
    /// The first attempt to connect has ended, one way or the other.
    private var hasTried = false
    /// When idempotency keys that are too old are looked for next; monotonic.
    private var nextPruning: UInt64 = 0

    init(
        _ queue: RequestQueue, _ connector: PostgreSQLConnector, _ options: PostgreSQLStoreOptions,
        _ counts: PostgreSQLCounts, isOneOwnerOnly: Bool
    ) {
        self.queue = queue
        self.connector = connector
        self.options = options
        self.counts = counts
        self.isOneOwnerOnly = isOneOwnerOnly
        let (readers, writers) = (max(options.readers, 1), max(options.writers, 1))
        sessions = (0..<(readers + writers)).map { Session(number: $0, isForWriting: $0 >= readers) }
        writes = Array(repeating: WriteQueue(), count: writers)
    }

    /// Works until the store is closed and everything accepted is answered.
    func run() {
        for session in sessions { connector.order(for: session.number, notBefore: 0) }
        while true {
            let now = time.monotonicNanoseconds
            take(queue.take(), at: now)
            dropLate(at: now)
            dispatch(at: now)
            // What is to be tried again would otherwise wait for something else to happen.
            if answerCommitted() { continue }
            if isClosing, reads.isEmpty, writes.allSatisfy(\.isEmpty), sessions.allSatisfy(\.isIdle) { break }
            sleepAndServe()
        }
        connector.close()
        for session in sessions { _ = session.drop(.unavailable(reason: "closed")) }
    }

    private func take(_ contents: RequestQueue.Contents, at now: UInt64) {
        isClosing = contents.isClosed
        for attempt in contents.connections { attach(attempt) }
        for read in contents.reads { reads.append(read, since: now) }
        for var write in contents.writes {
            write.since = now
            writes[queue.lane(of: write)].append(write)
        }
    }

    // MARK: Sending

    private func dispatch(at now: UInt64) {
        while !reads.isEmpty, let session = readingSession { send(ReadBatch(reads.next(64)), on: session, at: now) }
        for lane in writes.indices where !writes[lane].isEmpty { sendWrites(of: lane, at: now) }
        if now >= nextPruning, !isClosing, let session = readingSession { prune(on: session, at: now) }
        // Without a session no one waits for one; while the first is being made, they do.
        if hasTried, !sessions.contains(where: \.isUp) { refuseWaiting(.unavailable(reason: reports.lastFailure)) }
    }

    private func sendWrites(of lane: Int, at now: UInt64) {
        guard let session = writingSession(of: lane), session.writesUnderWay == 0 else { return }
        // With foreign partitions a commit covers one owner, as it is atomic on one server only.
        let next = writes[lane].next(options.batch, ofOneOwner: isOneOwnerOnly, at: now)
        guard !next.isEmpty else { return }
        // Where writes succeed, a probe would only leave dead rows.
        let context = WriteContext(isProbing: !reports.isHealthy, answers: options.answers)
        let batch = WriteBatch(next, deadlineMilliseconds: options.deadlineMilliseconds, in: context)
        send(batch, on: session, at: now)
    }

    /// On foreign partitions that would be a transaction of several servers, so it is left to the operator.
    private func prune(on session: Session, at now: UInt64) {
        nextPruning = isOneOwnerOnly ? .max : now + options.pruningMilliseconds * 1_000_000
        guard !isOneOwnerOnly else { return }
        send(PruneBatch(at: options.time.wallMilliseconds), on: session, at: now)
    }

    private func send(_ batch: any Batch, on session: Session, at now: UInt64) {
        do throws(PostgreSQLError) {
            try session.send(batch, until: now + UInt64(options.deadlineMilliseconds + 1000) * 1_000_000)
        } catch {
            lose(session, error)
        }
    }

    /// Whether a session may be used for a purpose: those for the other one are used only where all of its own are lost.
    private func isUsable(_ session: Session, forWriting: Bool) -> Bool {
        guard session.isUp else { return false }
        return session.isForWriting == forWriting || !sessions.contains { $0.isUp && $0.isForWriting == forWriting }
    }

    /// The session that has the fewest reads under way, if that is fewer than two.
    private var readingSession: Session? {
        var chosen: Session?
        for session in sessions where isUsable(session, forWriting: false) {
            if session.readsUnderWay < (chosen?.readsUnderWay ?? 2) { chosen = session }
        }
        return chosen
    }

    /// The session whose turn it is for a lane; nil without any session.
    private func writingSession(of lane: Int) -> Session? {
        let own = sessions[sessions.count - writes.count + lane]
        if own.isUp { return own }
        let usable = sessions.filter { isUsable($0, forWriting: true) }
        return usable.isEmpty ? nil : usable[lane % usable.count]
    }

    // MARK: Receiving

    private func sleepAndServe() {
        let up = sessions.filter(\.isUp)
        let milliseconds = queue.isIdleNow(wakingFor: readiness) ? pollTimeout : 0
        let ready = queue.poller.wait(for: up.compactMap(\.interest), milliseconds: milliseconds)
        for (session, isReady) in zip(up, ready) where isReady { serve(session) }
    }

    /// What can be sent when it comes; without a session everything is refused at once.
    private var readiness: RequestQueue.Readiness {
        guard sessions.contains(where: \.isUp) else {
            return RequestQueue.Readiness(reads: true, writes: writes.map { _ in true })
        }
        return RequestQueue.Readiness(
            reads: readingSession != nil, writes: writes.indices.map { isFree($0) })
    }

    private func isFree(_ lane: Int) -> Bool { writingSession(of: lane)?.writesUnderWay == 0 }

    /// How long nothing needs to be done unless something comes, in milliseconds.
    private var pollTimeout: Int32 {
        // The end of a transaction that is under way wakes by itself.
        let retries = writes.indices.lazy.filter { self.isFree($0) }.compactMap { self.writes[$0].nextTry }
        let pruning = readingSession == nil ? .max : nextPruning
        let next = min(retries.min() ?? .max, sessions.map(\.deadline).min() ?? .max, pruning)
        let now = time.monotonicNanoseconds
        return next <= now ? 1 : Int32(min((next - now) / 1_000_000 + 1, options.sleepMilliseconds))
    }

    private func serve(_ session: Session) {
        do throws(PostgreSQLError) {
            var mustRollBack = false
            try session.serve { batch in
                if batch.isCommitted { return committed.append(batch) }
                let result = batch.result()
                if result.mustRollBack { mustRollBack = true }
                finish(result)
            }
            if mustRollBack { send(RollBackBatch(), on: session, at: time.monotonicNanoseconds) }
        } catch {
            lose(session, error)
        }
    }

    // MARK: Answering

    /// Answers the callers of what is committed when the next transaction is on its way: the server need not wait for that.
    ///
    /// Whether some of them are to be tried again, as there was no room.
    private func answerCommitted() -> Bool {
        let results = committed.map { $0.result() }
        committed = []
        for result in results { finish(result) }
        return results.contains { $0.verdicts.contains(where: \.isRetry) }
    }

    private func finish(_ result: BatchResult) {
        counts.count(result)
        if let error = result.error { note(error) }
        if result.hasMore { nextPruning = 0 }
        reads.putBack(result.reads)
        answer(result)
        if result.hasWritten { report(reports.written()) }
    }

    private func answer(_ result: BatchResult) {
        let retries = result.verdicts.count(where: \.isRetry)
        queue.release(reads: result.answeredReads, writes: result.writes.count - retries)
        for (var write, verdict) in zip(result.writes, result.verdicts) {
            switch verdict {
            case .answer(let answer): answer()
            case .refuse(let error): write.refuse(error)
            case .retry(let retry):
                write.retry = retry
                write.retry.pause(from: time.monotonicNanoseconds, using: &random)
                writes[queue.lane(of: write)].append(write)
            }
        }
    }

    /// Asks callers to try again: all, or those that have waited since before a monotonic time.
    private func refuseWaiting(_ error: StoreError, since limit: UInt64 = .max) {
        for read in reads.removeAll(since: limit) {
            queue.release(reads: 1)
            read.refuse(error)
        }
        for lane in writes.indices {
            for write in writes[lane].removeAll(since: limit) {
                queue.release(writes: 1)
                write.refuse(error)
            }
        }
    }

    private func note(_ error: PostgreSQLError) {
        switch error.kind {
        case .retryable, .locked, .transactionFailed: break
        case .unprepared:
            for session in sessions { session.stopUsingPrepared() }
            connector.stopPreparing()
        case .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other: report(reports.failed(error))
        }
    }

    private func report(_ event: StoreEvent?) {
        if let event { options.observer(event) }
    }

    // MARK: Sessions

    func attach(_ attempt: ConnectionAttempt) {
        let session = sessions[attempt.session]
        hasTried = true
        // The answers that are on their way belong to the connection that it has.
        guard !session.isUp else { return }
        do throws(PostgreSQLError) {
            let opened = try attempt.result.get()
            // No one else takes it.
            guard let connection = opened.connection.take() else { return }
            session.attach(connection, isPrepared: opened.isPrepared && connector.isPreparing)
        } catch {
            report(reports.lost(error.description))
            return reconnect(session)
        }
        let isFirst = !sessions.contains { $0.isUp && $0.number != session.number }
        report(reports.connected(isFirst: isFirst, isLast: sessions.allSatisfy(\.isUp)))
    }

    private func lose(_ session: Session, _ error: PostgreSQLError) {
        guard session.isUp else { return }
        report(reports.lost(error.description))
        for result in session.drop(.unavailable(reason: error.description)) { finish(result) }
        reconnect(session)
    }

    private func reconnect(_ session: Session) {
        let pause = RetryPolicy.reconnectPause(afterFailures: session.failures)
        session.failures += 1
        connector.order(for: session.number, notBefore: time.monotonicNanoseconds + pause)
    }

    private func dropLate(at now: UInt64) {
        for session in sessions where session.deadline <= now {
            lose(session, PostgreSQLError(sqlState: nil, message: "no answer within the deadline"))
        }
        let deadline = UInt64(options.deadlineMilliseconds) * 1_000_000
        if now > deadline { refuseWaiting(.overloaded, since: now - deadline) }
    }
}
