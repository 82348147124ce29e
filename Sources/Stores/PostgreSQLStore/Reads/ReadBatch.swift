import PostgreSQL
import StoreEngine
import Tasks

/// Reads that are sent together, with one point of synchronization after them.
struct ReadBatch {
    let statements: [Statement]
    private var error: PostgreSQLError?
    private let jobs: [Job]
    private let reads: [PostgreSQLRead]
    /// What becomes of the first jobs, as far as that is known.
    private var verdicts: [(job: Job, verdict: Verdict)] = []

    init(_ jobs: [Job]) {
        self.jobs = jobs.filter { $0.work is PostgreSQLRead }
        reads = jobs.compactMap { $0.work as? PostgreSQLRead }
        statements = reads.map(\.statement)
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) {
        let job = jobs[index]
        // A read that needs no other one has answered its callers now.
        let next = reads[index].receive(rows)
        verdicts.append((job, next.map { .again(job.again(job.retry, $0)) } ?? .answer {}))
    }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {
        self.error = error
        let job = jobs[index]
        // A read is repeated within the deadline of its request, so its tries are fewer than those of a write.
        let retry = error.isPassing ? job.retry.nextTry(atMost: 5) : nil
        verdicts.append((job, retry.map { .again(job.again($0)) } ?? .refuse(StoreError(error))))
        // Those after it were not run.
        verdicts += jobs[(index + 1)...].map { ($0, .again($0)) }
    }

    func result() -> BatchResult {
        var result = BatchResult(verdicts)
        result.report = error?.report
        return result
    }

    func lost(_ loss: PostgreSQLError) -> BatchResult {
        BatchResult(verdicts + jobs[verdicts.count...].map { ($0, .again($0)) }).lost(SessionLoss(loss.description))
    }
}
