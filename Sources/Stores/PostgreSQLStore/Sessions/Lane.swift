import Platform
import PostgreSQL
import StoreEngine
import Synchronization
import Tasks

/// A queue of jobs, and the thread that runs them on a session of its own.
final class Lane: Sendable {
    let number: Int
    /// Bounded by ``Lanes``, for all lanes together.
    let queue = WorkQueue<LaneJob>(capacity: .max)
    private let name: String
    private let thread = Mutex<NamedThread?>(nil)
    private let connecting = Atomic(false)

    init(number: Int, name: String) {
        self.number = number
        self.name = name
    }

    /// Whether the thread is making a session, which may take long.
    var isConnecting: Bool { connecting.load(ordering: .acquiring) }

    func start(on target: ConnectionTarget, of lanes: Lanes, isOneOwnerOnly: Bool) throws(NamedThread.Failure) {
        let started = try NamedThread.start(name) { [self] in
            var loop = LaneLoop(self, of: lanes, on: target, isOneOwnerOnly: isOneOwnerOnly)
            loop.run()
        }
        thread.withLock { $0 = started }
    }

    func join() { thread.withLock { $0.take() }?.join() }

    fileprivate func connect(
        to target: ConnectionTarget, for lanes: Lanes
    ) throws(PostgreSQLError) -> Session {
        connecting.store(true, ordering: .releasing)
        defer { connecting.store(false, ordering: .releasing) }
        return try Session(to: target, for: lanes)
    }
}

/// What the thread of a lane does: it connects, takes what waits, and blocks until the database has answered.
private struct LaneLoop {
    private let lane: Lane
    private let lanes: Lanes
    private let target: ConnectionTarget
    private let options: PostgreSQLStoreOptions
    private let time = SystemTime()
    private var random = SystemRandomNumberGenerator()
    private var order: LaneOrder
    private var session: Session?
    /// Attempts to connect that failed since the last that did not.
    private var failures = 0
    /// When the next attempt to connect may begin; monotonic nanoseconds, like all times here.
    private var nextAttempt: UInt64 = 0
    /// When expired idempotency keys are looked for next.
    private var nextPruning: UInt64

    init(_ lane: Lane, of lanes: Lanes, on target: ConnectionTarget, isOneOwnerOnly: Bool) {
        self.lane = lane
        self.lanes = lanes
        self.target = target
        options = lanes.options
        order = LaneOrder(weight: options.batch, isOneOwnerOnly: isOneOwnerOnly)
        // One lane is enough. On foreign partitions it would be a transaction of several servers, so it is left to the
        // operator.
        nextPruning = lane.number == 0 && !isOneOwnerOnly ? 0 : .max
    }

    /// Works until the queue is closed, and everything that was accepted is answered.
    mutating func run() {
        while true {
            guard hasSession() else {
                guard passOn() else { return }
                continue
            }
            refuseLate()
            if time.monotonicNanoseconds >= nextPruning { prune() }
            switch take() {
            case .jobs(let jobs): serve(jobs)
            case .nothing: checkSession()
            case .end: return
            }
        }
    }

    // MARK: The session

    private mutating func hasSession() -> Bool {
        if session != nil { return true }
        guard time.monotonicNanoseconds >= nextAttempt else { return false }
        do throws(PostgreSQLError) {
            session = try lane.connect(to: target, for: lanes)
            failures = 0
            lanes.noteConnected(lane.number)
            return true
        } catch {
            failures += 1
            nextAttempt = time.monotonicNanoseconds + RetryPolicy.reconnectPause(afterFailures: failures)
            lanes.noteLost(lane.number, error.description)
            return false
        }
    }

    /// Gives what waits to other lanes until the next attempt to connect; false at the end.
    private func passOn() -> Bool {
        refuseLate()
        let taken = lane.queue.take(untilMonotonicNanoseconds: nextAttempt) { waiting in
            defer { waiting = [] }
            return waiting
        }
        switch taken {
        case .jobs(let jobs): lanes.send(jobs)
        case .nothing: break
        case .end: return false
        }
        return true
    }

    private mutating func lose(_ error: PostgreSQLError) {
        session = nil
        nextAttempt = 0
        lanes.noteLost(lane.number, error.description)
    }

    /// Notices that the server has ended the session; without one there is nothing to notice.
    private mutating func checkSession() {
        do throws(PostgreSQLError) {
            try session?.check()
        } catch {
            lose(error)
        }
    }

    // MARK: Jobs

    private mutating func take() -> WorkQueue<LaneJob>.Taken {
        let now = time.monotonicNanoseconds
        let retries = lane.queue.least { $0.notBefore > now ? $0.notBefore : .max } ?? .max
        let wake = min(retries, nextPruning, now + UInt64(options.sleepMilliseconds) * 1_000_000)
        var order = order
        defer { self.order = order }
        let time = time
        return lane.queue.take(untilMonotonicNanoseconds: wake) { waiting in
            order.next(of: &waiting, at: time.monotonicNanoseconds)
        }
    }

    /// Refuses those that have waited for longer than the deadline.
    private func refuseLate() {
        let (now, deadline) = (time.monotonicNanoseconds, UInt64(options.deadlineMilliseconds) * 1_000_000)
        guard now > deadline else { return }
        lanes.refuse(lane.queue.remove { $0.since < now - deadline }, .overloaded)
    }

    private mutating func serve(_ jobs: [LaneJob]) {
        checkSession()
        // Not sent, so they can wait for the next session, or go to another one.
        guard session != nil else { return lane.queue.putBack(jobs) }
        let writes = jobs.compactMap(\.write)
        if writes.isEmpty {
            run(ReadBatch(jobs.compactMap(\.read)))
        } else {
            let context = WriteContext(isProbing: !lanes.isHealthy, answers: options.answers)
            run(WriteBatch(writes, deadlineMilliseconds: options.deadlineMilliseconds, in: context))
        }
    }

    private mutating func prune() {
        nextPruning = time.monotonicNanoseconds + options.pruningMilliseconds * 1_000_000
        run(PruneBatch(at: options.time.wallMilliseconds))
    }

    private mutating func run(_ batch: some Batch) {
        var batch = batch
        let end = time.monotonicNanoseconds + UInt64(options.deadlineMilliseconds + 1000) * 1_000_000
        do throws(PostgreSQLError) {
            try session?.run(&batch, prepared: lanes.isPreparing, until: end)
        } catch {
            lose(error)
            return finish(batch.lost(.unavailable(reason: error.description)))
        }
        let result = batch.result()
        finish(result)
        if result.mustRollBack { run(RollBackBatch()) }
    }

    private mutating func finish(_ result: BatchResult) {
        lanes.count(result)
        if let error = result.error { lanes.note(error) }
        if result.hasMore { nextPruning = 0 }
        lane.queue.putBack(result.reads.map { .read($0) })
        var again: [LaneJob] = []
        for (var write, verdict) in zip(result.writes, result.verdicts) {
            switch verdict {
            case .answer(let answer): answer()
            case .refuse(let error): write.refuse(error)
            case .retry(let retry):
                write.retry = retry
                write.retry.pause(from: time.monotonicNanoseconds, using: &random)
                again.append(.write(write))
            }
        }
        lane.queue.putBack(again)
        if result.hasWritten { lanes.noteWritten() }
    }
}
