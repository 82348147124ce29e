import Tasks

/// What the threads of an engine share: the jobs that wait, what each session does, and what is counted.
///
/// It has no clock and no thread: times are monotonic nanoseconds.
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
        /// Whether an attempt to open the session is under way, which may take long.
        var isOpening = false
        /// Whether the thread sleeps or is about to: only then is the costly wake needed.
        var isIdle = false
        var underWay: [Job] = []
        /// When the jobs under way were taken.
        var since: UInt64 = 0
        /// The role of the jobs under way, or of the last ones: a session that serves both roles does so in turn.
        var lastRole = SessionRole.reads
    }

    enum Taken {
        /// Jobs to run, and the thread to wake, because more jobs wait.
        case jobs([Job], wake: Int?)
        /// Nothing is to be done before this time, unless another job comes.
        case nothing(until: UInt64)
        /// The session's role is closed, and all accepted jobs were taken.
        case end
    }

    /// By role.
    private var waiting = [FairQueue(turn: 1), FairQueue(turn: Job.mostOfShort)]
    /// By kind: the queues of the owners with callers who are not answered.
    private var queues = Job.Kind.allCases.map { _ in [Owner: OwnerQueue]() }
    /// The lists that wait, which later callers may share.
    private var lists: [ListTasks: Job] = [:]
    private var longWrites = LongWrites()
    private var bytes = 0
    private var closed: Set<SessionRole> = []
    var workers: [Worker]
    private var counts = StoreStatistics()
    private var reports = FailureReports()
    private let options: EngineOptions

    init(_ options: EngineOptions) {
        self.options = options
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
        let count = waiting[role.rawValue].callers
        guard options.countsUnderWay else { return count }
        return workers.lazy.filter { $0.lastRole == role }.reduce(count) { $1.underWay.reduce($0) { $0 + $1.callers } }
    }

    // MARK: Jobs

    /// Lets a job wait, or its caller with those of an equal list; returns the thread to wake, if one must be woken.
    mutating func submit(_ job: Job, isAbandoned: Bool = false) -> Result<Int?, StoreError> {
        guard !isAbandoned else { return .failure(.withdrawn) }
        guard hasSession || closed.contains(job.role) else {
            return .failure(.unavailable(reason: reports.lastLoss))
        }
        let (queue, cost) = (queue(for: job), job.bytes)
        guard !closed.contains(job.role), hasRoom(for: cost, besides: queue.bytes) else {
            release(0, of: queue)
            counts.refused += 1
            return .failure(.overloaded)
        }
        queue.bytes += cost
        bytes += cost
        if let list = job.list {
            if let equal = lists[list.query]?.list {
                equal.join(list)
                return .success(nil)
            }
            lists[list.query] = job
        }
        waiting[job.role.rawValue].append(job, to: queue)
        // A job that waits for its owner's turn is taken by the session that ends the turn before it.
        let isBusy = job.kind != .find && queue.session != nil
        return .success(isBusy ? nil : wakeIdle(job.role))
    }

    /// The queue of the job's owner, found or made with one search.
    private mutating func queue(for job: Job) -> OwnerQueue {
        func found(_ queue: inout OwnerQueue) -> OwnerQueue { queue }
        return found(&queues[job.kind.rawValue][job.owner, default: OwnerQueue(of: job.owner, job.kind)])
    }

    /// Whether a call of an owner who holds so many bytes has room; some is left for owners who hold nothing.
    private func hasRoom(for cost: Int, besides mine: Int) -> Bool {
        let free = options.mostBytes - bytes - cost
        return free >= 0 && (mine == 0 || mine + cost <= free / 3)
    }

    private mutating func wakeIdle(_ role: SessionRole) -> Int? {
        let idle = workers.indices.first { workers[$0].isIdle && serves($0, role) }
        if let idle { workers[idle].isIdle = false }
        return idle
    }

    /// Whether a session is there, or may soon be: jobs wait while the first sessions are being opened.
    private var hasSession: Bool { workers.contains { $0.condition != .down } }

    /// Whether a session takes the jobs of a role: its own, and the other one while no session of that role is there.
    private func serves(_ number: Int, _ role: SessionRole) -> Bool {
        workers[number].role == role || !workers.contains { $0.role == role && $0.condition != .down }
    }

    /// Takes the jobs that a session runs next; its thread sleeps until the limit if there are none.
    mutating func take(for number: Int, at now: UInt64, until limit: UInt64) -> Taken {
        workers[number].isIdle = false
        let last = workers[number].lastRole
        for role in [last == .reads ? .writes : .reads, last] as [SessionRole] where serves(number, role) {
            let jobs = role == .reads ? takeReads(for: number) : takeWrites(for: number, at: now)
            guard jobs.isEmpty else {
                workers[number].underWay = jobs
                workers[number].since = now
                workers[number].lastRole = role
                let isMoreReady = waiting[role.rawValue].owners.contains { $0.session == nil }
                return .jobs(jobs, wake: isMoreReady ? wakeIdle(role) : nil)
            }
        }
        let own = workers[number].role
        if isOver(own) {
            workers[number].condition = .down
            return .end
        }
        let end = min(limit, nextWrite(after: now))
        workers[number].isIdle = end > now
        return .nothing(until: end)
    }

    /// Whether a role is closed, and all of its accepted jobs were taken.
    func isOver(_ role: SessionRole) -> Bool { closed.contains(role) && waiting[role.rawValue].isEmpty }

    func isClosed(_ role: SessionRole) -> Bool { closed.contains(role) }

    /// Of each owner one list is read at a time.
    private mutating func takeReads(for number: Int) -> [Job] {
        let jobs = waiting[SessionRole.reads.rawValue].take(upTo: options.mostReads, for: number) { _, queue in
            queue.kind == .find || queue.session == nil
        }
        for job in jobs { noLongerShared(job) }
        return jobs
    }

    private mutating func noLongerShared(_ job: Job) {
        if let query = job.list?.query, lists[query] === job { lists[query] = nil }
    }

    /// Takes the writes of the next transaction; of each owner one session writes at a time.
    private mutating func takeWrites(for number: Int, at now: UInt64) -> [Job] {
        let writes = SessionRole.writes.rawValue
        let next = waiting[writes].nextWrites(at: now)
        let writers = workers.indices.count { workers[$0].condition == .up && serves($0, .writes) }
        let running = workers.count { $0.underWay.first?.isLong ?? false }
        if let long = next.long,
            longWrites.isNext(before: next.short, long, at: now, running: running, of: writers)
        {
            longWrites.begin()
            return [waiting[writes].takeOne(at: long, for: number)]
        }
        guard let short = next.short else { return [] }
        longWrites.isContended = true
        let first = waiting[writes].owners[short]
        let sharing = first.jobs.first?.retry.sharing ?? .alone
        guard sharing != .alone else { return [waiting[writes].takeOne(at: short, for: number)] }
        let only = sharing == .all && options.sharesTransactions ? nil : first
        return waiting[writes].take(upTo: Job.mostWeight, for: number) { job, queue in
            (only == nil || queue === only) && (queue.session == nil || queue.session == number)
                && (job.retry.sharing == sharing || sharing == .sameOwner && job.retry.sharing == .all) && !job.isLong
                && job.retry.notBefore <= now
        }
    }

    /// When a write that waits now can be taken.
    private func nextWrite(after now: UInt64) -> UInt64 {
        let owners = waiting[SessionRole.writes.rawValue].owners
        let pauses = owners.lazy.compactMap(\.jobs.first?.retry.notBefore).filter { $0 > now }
        let hasLong = longWrites.next > now && owners.contains { $0.jobs.first?.isLong ?? false }
        return min(pauses.min() ?? .max, hasLong ? longWrites.next : .max)
    }

    /// Removes and returns the jobs that have waited for too long.
    mutating func takeOverdue(at now: UInt64) -> [Job] {
        guard now > options.patience else { return [] }
        let limit = now - options.patience
        var overdue: [Job] = []
        // The first job of an owner has waited longest.
        for role in waiting.indices where waiting[role].owners.contains(where: { $0.jobs.first?.since ?? .max < limit })
        {
            overdue += waiting[role].remove { $0.since < limit }
        }
        counts.refused += overdue.reduce(0) { $0 + $1.callers }
        release(overdue)
        return overdue
    }

    mutating func takeAll(_ roles: [SessionRole]) -> [Job] {
        let jobs = roles.flatMap { waiting[$0.rawValue].remove { _ in true } }
        release(jobs)
        return jobs
    }

    /// Removes the job of a caller who has left, unless a session has taken the job; returns how to answer the caller.
    mutating func withdraw(_ call: Int, of owner: Owner, _ kind: Job.Kind) -> (@Sendable (StoreError) -> Void)? {
        guard let queue = queues[kind.rawValue][owner] else { return nil }
        for job in queue.jobs {
            if let list = job.list {
                guard let reply = list.remove(call) else { continue }
                if list.count == 0 { removeWaiting(job) }
                release(Job.callBytes, of: queue)
                return { reply.answer(.failure($0)) }
            }
            guard job.call == call else { continue }
            removeWaiting(job)
            release(job.bytes, of: queue)
            return job.refuse
        }
        return nil
    }

    private mutating func removeWaiting(_ job: Job) {
        _ = waiting[job.role.rawValue].remove { $0 === job }
        noLongerShared(job)
    }

    /// Forgets the memory of jobs that are answered, or will be at once.
    private mutating func release(_ jobs: [Job], areUnderWay: Bool = false) {
        for job in jobs {
            noLongerShared(job)
            let kind = job.kind.rawValue
            guard let place = queues[kind].index(forKey: job.owner) else { continue }
            let queue = queues[kind].values[place]
            if areUnderWay { queue.session = nil }
            bytes -= job.bytes
            queue.bytes -= job.bytes
            if queue.bytes == 0 { queues[kind].remove(at: place) }
        }
    }

    private mutating func release(_ cost: Int, of queue: OwnerQueue) {
        bytes -= cost
        queue.bytes -= cost
        if queue.bytes == 0 { queues[queue.kind.rawValue][queue.owner] = nil }
    }

    /// Counts what became of a batch, and lets the jobs wait that are tried again; returns the events.
    mutating func finish(_ number: Int, _ result: BatchResult, again: [Job], at now: UInt64) -> [StoreEvent] {
        let jobs = workers[number].underWay
        workers[number].underWay = []
        if jobs.first?.isLong ?? false { longWrites.end(at: now, after: now - workers[number].since) }
        // The callers of a job that is tried again are not answered.
        for job in again.reversed() {
            guard let queue = queues[job.kind.rawValue][job.owner] else { continue }
            queue.bytes += job.bytes
            bytes += job.bytes
            waiting[job.role.rawValue].putBack(job, to: queue)
        }
        release(jobs, areUnderWay: true)
        switch result.transaction {
        case .committed:
            counts.commits += 1
            counts.writes += result.verdicts.count - again.count
        case .failed: counts.failedCommits += 1
        case .none: break
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
        (hasSession ? [] : takeAll(SessionRole.allCases), .unavailable(reason: reports.lastLoss))
    }

    /// Refuses later jobs of these roles; returns whether one of them was open.
    mutating func close(_ roles: [SessionRole]) -> Bool {
        let before = closed.count
        closed.formUnion(roles)
        return closed.count > before
    }
}
