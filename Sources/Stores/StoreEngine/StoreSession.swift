package import Tasks

/// A session with a database, which blocks the one thread that uses it; each database has its own kind.
package protocol StoreSession: AnyObject {
    /// Does the work that is due between two batches; returns the latest monotonic time for the next call.
    func maintain(at now: UInt64) throws(SessionLoss) -> UInt64

    /// Runs jobs that are all reads or all writes, the writes in one transaction; gives exactly one verdict for each.
    ///
    /// A job whose work is not of this database is left out, and refused by the engine.
    ///
    /// A session ends its waits for the database itself.
    func run(_ jobs: [Job]) -> BatchResult

    /// Ends the work, after all accepted jobs were answered.
    func end()
}

extension StoreSession {
    package func end() {}
}

/// The reason why a session was lost, or could not be opened.
package struct SessionLoss: Error {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// The verdict on a job after its batch.
package enum Verdict: Sendable {
    /// The closure answers the caller.
    case answer(@Sendable () -> Void)
    case refuse(StoreError)
    /// The job in the verdict waits in place of the job that was taken.
    case again(Job)

    package var isFinal: Bool { if case .again = self { false } else { true } }
}

/// The result of a batch.
package struct BatchResult: Sendable {
    /// The end of the transaction of a batch.
    package enum Transaction: Sendable {
        /// The batch had reads only, or was refused before it began a transaction.
        case none
        case committed
        /// Nothing was committed, as far as is known.
        case failed
    }

    package var verdicts: [(job: Job, verdict: Verdict)]
    package var transaction = Transaction.none
    /// The changes of the transaction, by owner.
    package private(set) var changes: [OwnerChange] = []
    /// Whether the transaction has written something.
    ///
    /// A transaction that wrote nothing needs no room on the disk, so it does not show that the database takes writes.
    private(set) var hasWritten = false
    /// The failure to report, if it concerns more than its caller.
    package var report: ReportedFailure?
    /// The loss of the session, if it was lost.
    package var loss: SessionLoss?

    package init(_ verdicts: [(job: Job, verdict: Verdict)]) { self.verdicts = verdicts }

    /// Jobs that all get the same verdict.
    package init(_ jobs: [Job], _ verdict: (Job) -> Verdict) { self.init(jobs.map { ($0, verdict($0)) }) }

    /// The batch after its session was lost: jobs without an answer get the error, because they may be committed.
    package consuming func lost(_ loss: SessionLoss) -> BatchResult {
        let refusal = Verdict.refuse(.unavailable(reason: loss.reason))
        verdicts = verdicts.map { ($0.job, $0.verdict.isFinal ? $0.verdict : refusal) }
        self.loss = loss
        return self
    }

    /// The batch with a refusal for each job that has no verdict, so that no caller waits for ever.
    consuming func completed(for jobs: [Job]) -> BatchResult {
        guard verdicts.count != jobs.count else { return self }
        let judged = Set(verdicts.map { ObjectIdentifier($0.job) })
        for job in jobs where !judged.contains(ObjectIdentifier(job)) {
            verdicts.append((job, .refuse(.broken(reason: "a job of another database"))))
        }
        return self
    }

    /// The writes of a transaction that failed; writes that are not tried again get the error.
    ///
    /// The failure is reported once a caller gets the error, because another try may succeed.
    package init(failed jobs: [Job], _ failure: BatchFailure, _ error: StoreError, _ report: ReportedFailure?) {
        let isShared = jobs.count > 1
        self.init(jobs) { job in
            job.retry.after(failure, isShared: isShared).map { .again(job.again($0)) } ?? .refuse(error)
        }
        transaction = .failed
        if verdicts.contains(where: \.verdict.isFinal) { self.report = report }
    }

    /// Notes the change of a write of the transaction; nil for a probe, which leaves nothing.
    package mutating func note(_ change: OwnerChange?) {
        guard change?.isEmpty != true else { return }
        hasWritten = true
        if let change { changes.append(change) }
    }
}
