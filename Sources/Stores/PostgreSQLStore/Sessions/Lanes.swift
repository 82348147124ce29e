import Platform
import PostgreSQL
import StoreEngine
import Synchronization
import Tasks

/// The lanes of a store, and what they share: which of them have a session, what was reported, and counts.
///
/// The lane of an owner is chosen by a hash, so that two transactions of one server never wait for each other at the owner's
/// row. While a lane has no session, others take its jobs: first those of the same purpose.
final class Lanes: Sendable {
    private enum SessionState {
        /// The first attempt to connect has not ended.
        case starting
        case up
        case down
    }

    private struct State {
        var reports = FailureReports()
        /// By lane.
        var sessions: [SessionState]
        var isClosed = false
        var statistics = StoreStatistics()
    }

    /// Where a job can go.
    private enum Way {
        case lane(Int)
        case refused(StoreError)
    }

    let options: PostgreSQLStoreOptions
    /// Lanes for reading, then lanes for writing.
    private let lanes: [Lane]
    private let readers: Int
    private let state: Mutex<State>
    /// Off for good once a session was found that others share: a pool in transaction mode.
    private let preparing = Atomic(true)

    init(_ options: PostgreSQLStoreOptions) {
        self.options = options
        let (readers, writers) = (max(options.readers, 1), max(options.writers, 1))
        let lanes =
            (0..<readers).map { Lane(number: $0, name: "pg-reader-\($0)") }
            + (0..<writers).map { Lane(number: readers + $0, name: "pg-writer-\($0)") }
        (self.readers, self.lanes) = (readers, lanes)
        state = Mutex(State(sessions: lanes.map { _ in .starting }))
    }

    /// Starts a thread for each session.
    func start(on target: ConnectionTarget, isOneOwnerOnly: Bool) throws(NamedThread.Failure) {
        for lane in lanes { try lane.start(on: target, of: self, isOneOwnerOnly: isOneOwnerOnly) }
    }

    // MARK: Jobs

    /// Lets a job wait in its lane, or refuses it.
    func submit(_ job: LaneJob) {
        let way = state.withLock { state -> Way? in
            let waiting = state.statistics.waitingReads + state.statistics.waitingWrites
            guard !state.isClosed, waiting < options.waiting else {
                state.statistics.refused += 1
                return nil
            }
            if job.isWrite { state.statistics.waitingWrites += 1 } else { state.statistics.waitingReads += 1 }
            return self.way(of: job, state)
        }
        if let way { send(job, way) } else { job.refuse(.overloaded) }
    }

    /// Lets jobs of a lane without a session wait in other lanes, or refuses them if no lane has a session.
    func send(_ jobs: [LaneJob]) {
        for job in jobs { send(job, state.withLock { way(of: job, $0) }) }
    }

    private func send(_ job: LaneJob, _ way: Way) {
        switch way {
        case .lane(let number) where lanes[number].queue.submit(job): break
        // It was closed since.
        case .lane: refuse([job], .overloaded)
        case .refused(let error): refuse([job], error)
        }
    }

    private func way(of job: LaneJob, _ state: State) -> Way {
        let numbers = job.isWrite ? readers..<lanes.count : 0..<readers
        let hash = job.owner?.hashValue.magnitude ?? 0
        let own = numbers.lowerBound + Int(hash % UInt(numbers.count))
        // While the first sessions are being made, their jobs wait.
        if state.sessions[own] != .down { return .lane(own) }
        let usable = lanes.indices.filter { state.sessions[$0] != .down }
        let preferred = usable.filter(numbers.contains)
        let others = preferred.isEmpty ? usable : preferred
        guard !others.isEmpty else { return .refused(.unavailable(reason: state.reports.lastFailure)) }
        return .lane(others[Int(hash % UInt(others.count))])
    }

    /// Answers accepted jobs with an error.
    func refuse(_ jobs: [LaneJob], _ error: StoreError) {
        guard !jobs.isEmpty else { return }
        let writes = jobs.count { $0.isWrite }
        release(reads: jobs.count - writes, writes: writes)
        for job in jobs { job.refuse(error) }
    }

    private func release(reads: Int, writes: Int) {
        state.withLock { state in
            state.statistics.waitingReads -= reads
            state.statistics.waitingWrites -= writes
        }
    }

    // MARK: Counts and reports

    var statistics: StoreStatistics { state.withLock { $0.statistics } }

    /// Counts what became of a batch, before its callers are answered.
    func count(_ result: BatchResult) {
        let decided = result.verdicts.count { !$0.isRetry }
        state.withLock { state in
            state.statistics.waitingReads -= result.answeredReads
            state.statistics.waitingWrites -= decided
            state.statistics.listMisses += result.lists
            guard !result.writes.isEmpty else { return }
            if result.isCommitted {
                state.statistics.commits += 1
                state.statistics.writes += decided
            } else {
                state.statistics.failedCommits += 1
            }
        }
    }

    /// Where writes succeed, a probe would only leave dead rows.
    var isHealthy: Bool { state.withLock { $0.reports.isHealthy } }

    var isPreparing: Bool { preparing.load(ordering: .relaxed) }

    /// From now on no statement is prepared, nor sent under a name; reported once.
    func stopPreparing() {
        if preparing.exchange(false, ordering: .relaxed) { options.observer(.sessionsShared) }
    }

    /// Notes a failed statement, if its reason concerns more than its caller.
    func note(_ error: PostgreSQLError) {
        switch error.kind {
        case .retryable, .locked, .transactionFailed: break
        case .unprepared: stopPreparing()
        case .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other:
            report { $0.reports.failed(error) }
        }
    }

    /// Notes that something was written.
    func noteWritten() { report { $0.reports.written() } }

    /// Notes that a lane has a session.
    func noteConnected(_ lane: Int) {
        report { state in
            let isFirst = !state.sessions.contains(.up)
            state.sessions[lane] = .up
            return state.reports.connected(isFirst: isFirst, isLast: state.sessions.allSatisfy { $0 == .up })
        }
    }

    /// Notes that a lane has lost its session, or could make none.
    func noteLost(_ lane: Int, _ reason: String) {
        report { state in
            state.sessions[lane] = .down
            return state.reports.lost(reason)
        }
    }

    private func report(_ change: (inout State) -> StoreEvent?) {
        let (event, isClosed) = state.withLock { state in (change(&state), state.isClosed) }
        guard let event, !isClosed || event != .connected else { return }
        options.observer(event)
    }

    // MARK: The end

    /// Refuses later jobs, and returns when all accepted ones are answered.
    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        for lane in lanes { lane.queue.close() }
        for lane in lanes {
            // An attempt to connect may take as long as a host does not answer, so nobody waits for it.
            if lane.isConnecting, state.withLock({ $0.sessions[lane.number] == .down }) {
                refuse(lane.queue.remove { _ in true }, .unavailable(reason: "closed"))
            } else {
                lane.join()
            }
        }
        options.observer(.closed(checkpointed: nil))
    }
}
