import Tasks

/// The state that the threads of an engine share: the jobs that wait, the work of each session, and the counts.
///
/// The state has no clock and no thread: times are monotonic nanoseconds.
struct EngineState {
    /// A session and its thread.
    struct Worker {
        enum Condition {
            /// The first attempt to open the session has not ended.
            case starting
            case up
            case down
        }

        let role: SessionRole
        var condition = Condition.starting
        /// Whether the thread tries to open the session, which may take long.
        var isOpening = false
        /// Whether the thread sleeps or is about to sleep: only then is the costly wake needed.
        var isIdle = false
        var underWay: [Job] = []
        /// The monotonic time at which the jobs under way were taken.
        var since: UInt64 = 0
        /// The role of the jobs under way, or of the last ones: a session that serves both roles alternates.
        var lastRole = SessionRole.reads

        /// Whether the session does a long write.
        var isLong: Bool { underWay.first?.isLong ?? false }
    }

    enum Taken {
        /// Jobs to run, and the thread to wake, because more jobs wait.
        case jobs([Job], wake: Int?)
        /// Nothing is to be done before this time, unless another job comes.
        case nothing(until: UInt64)
        /// The session's role is closed, and all accepted jobs were taken.
        case end
    }

    var waiting: WaitingJobs
    private var closed: Set<SessionRole> = []
    var workers: [Worker]
    private var counts = StoreStatistics()
    private var reports = FailureReports()
    private let options: EngineOptions

    init(_ options: EngineOptions) {
        self.options = options
        waiting = WaitingJobs(CallRoom(options.mostBytes))
        workers = options.readers.map { _ in Worker(role: .reads) } + options.writers.map { _ in Worker(role: .writes) }
    }

    var isHealthy: Bool { reports.isHealthy }

    var statistics: StoreStatistics {
        var statistics = counts
        statistics.waitingReads = count(.reads)
        statistics.waitingWrites = count(.writes)
        return statistics
    }

    private func count(_ role: SessionRole) -> Int {
        let callers = waiting.callers(role)
        guard options.countsUnderWay else { return callers }
        return workers.lazy.filter { $0.lastRole == role }.reduce(callers) {
            $1.underWay.reduce($0) { $0 + $1.callers }
        }
    }

    // MARK: Jobs

    /// Lets a job wait, or adds its caller to an equal list; returns the thread to wake, if one must be woken.
    mutating func submit(_ job: Job) -> Result<Int?, StoreError> {
        guard hasSession || closed.contains(job.role) else {
            return .failure(.unavailable(reason: reports.lastLoss))
        }
        guard !closed.contains(job.role), let isReady = waiting.add(job) else {
            counts.refused += 1
            return .failure(.overloaded)
        }
        return .success(isReady ? wakeIdle(job.role) : nil)
    }

    /// Removes and returns the jobs that have waited for too long.
    mutating func takeOverdue(at now: UInt64) -> [Job] {
        guard now > options.patience else { return [] }
        let limit = now - options.patience
        let overdue = waiting.remove { $0.since < limit }
        counts.refused += overdue.reduce(0) { $0 + $1.callers }
        return overdue
    }

    private mutating func wakeIdle(_ role: SessionRole) -> Int? {
        let idle = workers.indices.first { workers[$0].isIdle && serves($0, role) }
        if let idle { workers[idle].isIdle = false }
        return idle
    }

    /// Whether a session is there, or may soon be: jobs wait while the first sessions are being opened.
    private var hasSession: Bool { workers.contains { $0.condition != .down } }

    /// Whether a session takes the jobs of a role: of its own role, and of the other one while that has no session.
    private func serves(_ number: Int, _ role: SessionRole) -> Bool {
        workers[number].role == role || !workers.contains { $0.role == role && $0.condition != .down }
    }

    /// Takes the jobs that a session runs next; its thread sleeps until the limit if there are none.
    mutating func take(for number: Int, at now: UInt64, until limit: UInt64) -> Taken {
        workers[number].isIdle = false
        waiting.endPauses(at: now)
        let last = workers[number].lastRole
        for role in [last == .reads ? .writes : .reads, last] as [SessionRole] where serves(number, role) {
            let jobs = role == .reads ? waiting.takeReads(upTo: options.mostReads) : takeWrites(at: now)
            guard jobs.isEmpty else {
                workers[number].underWay = jobs
                workers[number].since = now
                workers[number].lastRole = role
                return .jobs(jobs, wake: waiting.isReady(role) ? wakeIdle(role) : nil)
            }
        }
        let own = workers[number].role
        if isOver(own) {
            workers[number].condition = .down
            return .end
        }
        let end = min(limit, waiting.nextPauseEnd(at: now))
        workers[number].isIdle = end > now
        return .nothing(until: end)
    }

    /// Whether a role is closed, and all of its accepted jobs were taken.
    func isOver(_ role: SessionRole) -> Bool { closed.contains(role) && waiting.isEmpty(role) }

    func isClosed(_ role: SessionRole) -> Bool { closed.contains(role) }

    /// One session at a time does a long write, so that another one is left for the short ones.
    private mutating func takeWrites(at now: UInt64) -> [Job] {
        waiting.takeWrites(
            at: now, isLongAllowed: !workers.contains(where: \.isLong), sharesTransactions: options.sharesTransactions)
    }

    /// Counts the verdicts of a batch, and lets the jobs wait that are tried again; returns the events.
    mutating func finish(_ number: Int, _ result: BatchResult, at now: UInt64) -> [StoreEvent] {
        let worker = workers[number]
        if worker.isLong, options.writers.count == 1 { waiting.endLongWrite(begun: worker.since, at: now) }
        workers[number].underWay = []
        let again = waiting.endTurns(of: result.verdicts, at: now)
        switch result.transaction {
        case .committed:
            counts.commits += 1
            counts.writes += result.verdicts.count - again
        case .failed: counts.failedCommits += 1
        case .none: break
        }
        let failed = result.report.flatMap { reports.failed($0) }
        let written = result.transaction == .committed && result.hasWritten ? reports.written() : nil
        let lost = result.loss.flatMap { lose(number, $0) }
        return [failed, written, lost].compactMap(\.self)
    }

    // MARK: Sessions

    mutating func open(_ number: Int) -> StoreEvent? {
        let isFirst = !workers.contains { $0.condition == .up }
        workers[number].condition = .up
        let event = reports.opened(isFirst: isFirst, isLast: workers.allSatisfy { $0.condition == .up })
        return closed.isEmpty ? event : nil
    }

    mutating func lose(_ number: Int, _ loss: SessionLoss) -> StoreEvent? {
        workers[number].condition = .down
        workers[number].isIdle = false
        return reports.lost(loss.reason)
    }

    /// Takes the jobs that no session will take, after an attempt to open one failed; returns them with their error.
    mutating func takeJobsWithoutSession() -> (jobs: [Job], error: StoreError) {
        (hasSession ? [] : waiting.remove { _ in true }, .unavailable(reason: reports.lastLoss))
    }

    /// Refuses later jobs of these roles; returns whether one of them was open.
    mutating func close(_ roles: [SessionRole]) -> Bool {
        let before = closed.count
        closed.formUnion(roles)
        return closed.count > before
    }
}
