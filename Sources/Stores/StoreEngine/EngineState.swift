import Tasks

/// What the threads of an engine share: the jobs that wait, what each session does, and what is counted.
struct EngineState {
    /// A session and its thread.
    struct Worker {
        enum Condition {
            /// The first attempt to open the session has not ended.
            case starting
            case up
            case down
        }

        let line: Line
        var condition = Condition.starting
        /// Whether an attempt to open the session is under way, which may take long.
        var isOpening = false
        /// Whether the thread sleeps or is about to: only then is the costly wake needed.
        var isIdle = false
        var underWay: [Job] = []
        /// The line of the jobs under way, or of the last ones: a session that serves both lines serves them in turn.
        var lastLine = Line.reads
    }

    enum Taken {
        case jobs([Job])
        /// Nothing is to be done before this monotonic time, unless another job comes.
        case nothing(until: UInt64)
        /// The line is closed, and all accepted jobs were taken.
        case end
    }

    /// By line.
    private var waiting: [[Job]] = [[], []]
    private var closed: Set<Line> = []
    var workers: [Worker]
    private var counts = StoreStatistics()
    private var reports = FailureReports()
    private let options: EngineOptions

    init(_ options: EngineOptions) {
        self.options = options
        workers = options.readers.map { _ in Worker(line: .reads) } + options.writers.map { _ in Worker(line: .writes) }
    }

    var isHealthy: Bool { reports.isHealthy }

    var statistics: StoreStatistics {
        var statistics = counts
        statistics.waitingReads = count(.reads)
        statistics.waitingWrites = count(.writes)
        return statistics
    }

    private func count(_ line: Line) -> Int {
        guard options.countsUnderWay else { return waiting[line.rawValue].count }
        return workers.reduce(waiting[line.rawValue].count) { $0 + ($1.lastLine == line ? $1.underWay.count : 0) }
    }

    // MARK: Jobs

    /// Lets a job wait; returns the thread to wake, if one must be woken.
    mutating func submit(_ job: Job) -> Result<Int?, StoreError> {
        let line = job.line
        guard !closed.contains(line), count(.reads) + count(.writes) < options.waiting else {
            counts.refused += 1
            return .failure(.overloaded)
        }
        guard hasSession else { return .failure(.unavailable(reason: reports.lastLoss)) }
        waiting[line.rawValue].append(job)
        // A job that waits for its turn is taken by the session that ends the turn before it.
        guard let idle = workers.indices.first(where: { workers[$0].isIdle && serves($0, line) }), !isBusy(job) else {
            return .success(nil)
        }
        workers[idle].isIdle = false
        return .success(idle)
    }

    /// Whether a job waits for its turn after another one of the same owner, which is under way.
    private func isBusy(_ job: Job) -> Bool {
        job.kind != .find
            && workers.contains { $0.underWay.contains { $0.kind == job.kind && $0.owner == job.owner } }
    }

    /// Whether a session is there, or may soon be: jobs wait while the first sessions are being opened.
    private var hasSession: Bool { workers.contains { $0.condition != .down } }

    /// Whether a session takes the jobs of a line: its own, and that of others while none of those is there.
    private func serves(_ number: Int, _ line: Line) -> Bool {
        workers[number].line == line || !workers.contains { $0.line == line && $0.condition != .down }
    }

    /// Takes the jobs that a session runs next; its thread sleeps until the limit if there are none.
    mutating func take(for number: Int, by session: any StoreSession, at now: UInt64, until limit: UInt64) -> Taken {
        workers[number].isIdle = false
        let last = workers[number].lastLine
        for line in [last == .reads ? .writes : .reads, last] as [Line] where serves(number, line) {
            let jobs =
                line == .reads
                ? takeReads(for: number)
                : session.takeWrites(of: &waiting[line.rawValue], except: busyOwners(.write, for: number), at: now)
            guard jobs.isEmpty else {
                workers[number].underWay = jobs
                workers[number].lastLine = line
                return .jobs(jobs)
            }
        }
        let own = workers[number].line
        if isOver(own) {
            workers[number].condition = .down
            return .end
        }
        let pauses = waiting[Line.writes.rawValue].lazy.map(\.retry.notBefore).filter { $0 > now }
        let end = min(limit, pauses.min() ?? .max)
        workers[number].isIdle = end > now
        return .nothing(until: end)
    }

    /// Whether a line is closed, and all of its accepted jobs were taken.
    func isOver(_ line: Line) -> Bool { closed.contains(line) && waiting[line.rawValue].isEmpty }

    func isClosed(_ line: Line) -> Bool { closed.contains(line) }

    /// Takes the reads that have waited longest, but of each owner one list at a time, so that one cannot delay all.
    private mutating func takeReads(for number: Int) -> [Job] {
        let reads = waiting[Line.reads.rawValue]
        guard !reads.isEmpty else { return [] }
        var owners = busyOwners(.list, for: number)
        var (taken, left): ([Job], [Job]) = ([], [])
        for read in reads {
            let isFull = taken.count == options.mostReads
            if !isFull, read.kind != .list || owners.insert(read.owner).inserted {
                taken.append(read)
            } else {
                left.append(read)
            }
        }
        waiting[Line.reads.rawValue] = left
        return taken
    }

    /// The owners for whom other sessions run jobs of this kind.
    private func busyOwners(_ kind: Job.Kind, for number: Int) -> Set<Owner> {
        var owners: Set<Owner> = []
        for other in workers.indices where other != number {
            for job in workers[other].underWay where job.kind == kind { owners.insert(job.owner) }
        }
        return owners
    }

    /// Removes and returns the jobs that have waited for too long.
    mutating func takeOverdue(at now: UInt64) -> [Job] {
        guard now > options.patience else { return [] }
        let limit = now - options.patience
        var overdue: [Job] = []
        // The first one has waited longest.
        for line in waiting.indices where waiting[line].first.map({ $0.since < limit }) ?? false {
            overdue += waiting[line].filter { $0.since < limit }
            waiting[line].removeAll { $0.since < limit }
        }
        counts.refused += overdue.count
        return overdue
    }

    mutating func takeAll(_ lines: [Line]) -> [Job] {
        var jobs: [Job] = []
        for line in lines {
            jobs += waiting[line.rawValue]
            waiting[line.rawValue] = []
        }
        return jobs
    }

    /// Counts what became of a batch, and lets the jobs wait that are tried again; returns the events.
    mutating func finish(_ number: Int, _ result: BatchResult, again: [Job]) -> [StoreEvent] {
        workers[number].underWay = []
        if let first = again.first { waiting[first.line.rawValue].insert(contentsOf: again, at: 0) }
        switch result.transaction {
        case .committed:
            counts.commits += 1
            counts.writes += result.verdicts.count - again.count
        case .failed: counts.failedCommits += 1
        case .none:
            for (job, verdict) in result.verdicts where job.kind == .list {
                if case .answer = verdict { counts.listMisses += 1 }
            }
        }
        var events: [StoreEvent?] = []
        if let failure = result.report { events.append(reports.failed(failure)) }
        if result.transaction == .committed, result.hasWritten { events.append(reports.written()) }
        if let loss = result.loss { events.append(lose(number, loss)) }
        return events.compactMap(\.self)
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

    /// After an attempt to open a session failed: the jobs that no session will take, and the error for them.
    mutating func takeHopeless() -> (jobs: [Job], error: StoreError) {
        (hasSession ? [] : takeAll(Line.allCases), .unavailable(reason: reports.lastLoss))
    }

    /// Refuses later jobs of lines; returns whether one of them was open.
    mutating func close(_ lines: [Line]) -> Bool {
        let before = closed.count
        closed.formUnion(lines)
        return closed.count > before
    }
}
