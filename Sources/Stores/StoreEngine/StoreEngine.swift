package import Basics
private import Platform
private import Synchronization
package import Tasks

/// The queue of a store, and the threads that run its jobs, each on a session of its own.
///
/// Some sessions read and some write. While no session of one kind is open, which happens with PostgreSQL only, the
/// others do its work. Jobs that wait together are run together: reads in one batch, writes in one transaction. Owners
/// take turns (``Turns``). For each owner, one session at a time writes, and one reads a list.
package final class StoreEngine: Sendable {
    package typealias Opening = @Sendable (_ number: Int) throws(SessionLoss) -> any StoreSession

    package let times = StoreTimes()
    package let commits = CommitListeners()
    package let cache: ListCache
    private let options: EngineOptions
    private let time = SystemTime()
    private let state: Mutex<EngineState>
    /// The wakeups of the sessions: first of those that read, then of those that write.
    private let wakeups: [Wakeup]
    private let threads = Mutex<[NamedThread]>([])
    private let lastCall = Atomic(0)

    package init(_ options: EngineOptions) {
        self.options = options
        cache = ListCache(capacity: 64 << 20, answers: options.answers)
        state = Mutex(EngineState(options))
        wakeups = (options.readers + options.writers).map { _ in Wakeup() }
    }

    /// Starts the threads, each of which opens its session.
    package func start(_ open: @escaping Opening) throws(OperatorError) {
        for (number, name) in (options.readers + options.writers).enumerated() {
            let thread = try rethrowing(as: OperatorError.init) { () throws(SystemError) in
                try NamedThread.start(name) { [self] in runSession(number, open) }
            }
            threads.withLock { $0.append(thread) }
        }
    }

    /// Lets work wait for a session; its outcome, or a refusal, is the answer.
    package func call<Outcome>(
        of owner: Owner, _ kind: Job.Kind, weight: Int = 1, payload: Int = 0, _ answer: @escaping StoreAnswer<Outcome>,
        _ work: any JobWork
    ) -> Cancellation {
        let call = lastCall.wrappingAdd(1, ordering: .relaxed).newValue
        submit(Job(call: call, of: owner, kind, weight: weight, payload: payload, work) { answer(.failure($0)) })
        return { [self] in withdraw(call, of: owner, kind) }
    }

    /// Lets a list wait, which is read once for all callers who wait for an equal list.
    package func list(
        _ query: ListTasks, _ answer: @escaping StoreAnswer<TaskList>, _ work: (SharedList) -> any JobWork
    ) -> Cancellation {
        let call = lastCall.wrappingAdd(1, ordering: .relaxed).newValue
        let list = SharedList(query, for: call, answer)
        submit(Job(of: query.owner, .list, list: list, work(list)) { list.answer(.failure($0)) })
        return { [self] in withdraw(call, of: query.owner, .list) }
    }

    /// Lets a job wait for a session, or refuses it.
    private func submit(_ job: Job) {
        switch state.withLock({ $0.submit(job) }) {
        case .success(nil): break
        case .success(let number?): wakeups[number].wake()
        case .failure(let error): job.refuse(error)
        }
    }

    private func withdraw(_ call: Int, of owner: Owner, _ kind: Job.Kind) {
        state.withLock { $0.waiting.withdraw(call, of: owner, kind) }?(.withdrawn)
    }

    /// Wakes all threads, so that each looks for jobs again.
    private func wake() {
        for wakeup in wakeups { wakeup.wake() }
    }

    package var statistics: StoreStatistics {
        var statistics = state.withLock { $0.statistics }
        cache.report(to: &statistics)
        return statistics
    }

    /// Whether something was written since the last failure: where writes succeed, a probe would only leave dead rows.
    package var isHealthy: Bool { state.withLock { $0.isHealthy } }

    /// Refuses later jobs of these roles, and answers all accepted ones first; false if the roles were closed.
    package func close(_ roles: [SessionRole] = SessionRole.allCases) -> Bool {
        guard state.withLock({ $0.close(roles) }) else { return false }
        wake()
        let threads = threads.withLock { $0 }
        for (number, thread) in threads.enumerated() {
            let worker = state.withLock { $0.workers[number] }
            // A host that does not answer may hold up an attempt to open a session, so nobody waits for another.
            if roles.contains(worker.role), !(worker.isOpening && worker.condition == .down) { thread.join() }
        }
        let rest = state.withLock { $0.waiting.remove { roles.contains($0.role) } }
        for job in rest { job.refuse(.unavailable(reason: "closed")) }
        return true
    }

    // MARK: The threads

    /// The thread of a session opens the session, takes waiting jobs, and blocks until the database has answered.
    ///
    /// The thread works until its role is closed, and all accepted jobs are answered.
    private func runSession(_ number: Int, _ open: Opening) {
        // The attempts since the last useful session, which has run a batch or has lasted.
        var failures = 0
        var nextAttempt: UInt64 = 0
        while awaitAttempt(number, at: nextAttempt, isRetry: failures > 0) {
            do throws(SessionLoss) {
                let session = try opening(number, open)
                let lasting = time.monotonicNanoseconds + RetryState.longestReconnectPause
                report(state.withLock { $0.open(number) })
                wake()
                guard let wasUseful = work(on: session, number) else { return }
                failures = wasUseful || time.monotonicNanoseconds > lasting ? 0 : failures + 1
            } catch {
                failures += 1
                noteDown(number, error)
                let (jobs, error) = state.withLock { $0.takeJobsWithoutSession() }
                for job in jobs { job.refuse(error) }
            }
            nextAttempt = time.monotonicNanoseconds + RetryState.reconnectPause(afterFailures: failures)
        }
    }

    /// Runs jobs on a session until the session is lost; returns whether it has run a batch, or nil at the end.
    private func work(on session: any StoreSession, _ number: Int) -> Bool? {
        var wasUseful = false
        while true {
            do throws(SessionLoss) {
                let limit = try session.maintain(at: time.monotonicNanoseconds)
                guard let jobs = take(for: number, until: limit) else {
                    session.end()
                    return nil
                }
                guard !jobs.isEmpty else { continue }
                let start = time.monotonicNanoseconds
                for job in jobs { times.waits.add(start - job.since) }
                let result = session.run(jobs).completed(for: jobs)
                if result.transaction == .committed { times.commits.add(time.monotonicNanoseconds - start) }
                finish(number, result)
                if result.loss != nil { return wasUseful }
                wasUseful = true
            } catch {
                // Another database may take the place of the lost one, and lack its last changes.
                cache.removeAll()
                noteDown(number, error)
                return wasUseful
            }
        }
    }

    /// Sleeps until the next attempt to open a session; false if no session is needed any more.
    ///
    /// If jobs wait when their role is closed, one attempt is made for them, and no other if that fails.
    private func awaitAttempt(_ number: Int, at next: UInt64, isRetry: Bool) -> Bool {
        while true {
            let isOver = state.withLock { state in
                let role = state.workers[number].role
                return state.isOver(role) || isRetry && state.isClosed(role)
            }
            if isOver { return false }
            if !wakeups[number].wait(untilMonotonicNanoseconds: next) { return true }
        }
    }

    private func opening(_ number: Int, _ open: Opening) throws(SessionLoss) -> any StoreSession {
        state.withLock { $0.workers[number].isOpening = true }
        defer { state.withLock { $0.workers[number].isOpening = false } }
        return try open(number)
    }

    private func noteDown(_ number: Int, _ loss: SessionLoss) {
        report(state.withLock { $0.lose(number, loss) })
        wake()
    }

    /// Takes the jobs that a session runs next: none if nothing came until a monotonic time, nil at the end.
    private func take(for number: Int, until limit: UInt64) -> [Job]? {
        while true {
            let now = time.monotonicNanoseconds
            let (taken, overdue) = state.withLock { state in
                let overdue = state.takeOverdue(at: now)
                return (state.take(for: number, at: now, until: limit), overdue)
            }
            for job in overdue { job.refuse(.overloaded) }
            switch taken {
            case .jobs(let jobs, let idle):
                if let idle { wakeups[idle].wake() }
                return jobs
            case .end:
                // The other threads may wait for the end of the jobs that were taken last.
                wake()
                return nil
            case .nothing(let end) where end <= now: return []
            case .nothing(.max): wakeups[number].wait()
            case .nothing(let end):
                guard !wakeups[number].wait(untilMonotonicNanoseconds: end) else { continue }
                state.withLock { $0.workers[number].isIdle = false }
                return []
            }
        }
    }

    /// Counts and reports the verdicts of a batch, tells the cache of the changes, answers the callers, and tells the
    /// listeners.
    private func finish(_ number: Int, _ result: BatchResult) {
        let now = time.monotonicNanoseconds
        for event in state.withLock({ $0.finish(number, result, at: now) }) { report(event) }
        // A caller who has an answer must find what was changed.
        if !result.changes.isEmpty { cache.endChange(by: result.changes) }
        for (job, verdict) in result.verdicts {
            switch verdict {
            case .answer(let answer): answer()
            case .refuse(let error): job.refuse(error)
            case .again: break
            }
        }
        if !result.changes.isEmpty { commits.tell(of: result.changes) }
        if result.loss != nil {
            cache.removeAll()
            wake()
        }
    }

    private func report(_ event: StoreEvent?) {
        if let event { options.observer(event) }
    }
}

package struct EngineOptions: Sendable {
    /// The names of the threads whose sessions read.
    package var readers: [String]
    /// The names of the threads whose sessions write.
    package var writers: [String]
    /// Cached long lists take their places here while they are sent.
    package var answers = AnswerMemory()
    /// The number of reads at which a batch is full; the last turn may exceed the number.
    package var mostReads = 1
    /// The memory of all calls that are not answered, in bytes; more calls are refused as overloaded (``CallRoom``).
    package var mostBytes = 32 << 20
    /// Whether jobs count as waiting until they are answered: a database may let the jobs of a session wait.
    package var countsUnderWay = false
    /// Whether the writes of several owners may share a transaction.
    package var sharesTransactions = true
    /// The longest wait of a job, in nanoseconds; the next session that looks for jobs then refuses it as overloaded.
    package var patience: UInt64 = 10_000_000_000
    /// A closure that is called with each event, on the thread where the event happens.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }

    package init(readers: [String], writers: [String]) {
        self.readers = readers
        self.writers = writers
    }
}
