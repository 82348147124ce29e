import PostgreSQL
import StoreEngine
import Tasks

/// Writes that share a transaction and its commit: which statements to send, and what their answers mean for each write.
///
/// Owners come in the order of their names, and their rows in `owners` are locked first, so that transactions of many
/// servers cause no deadlock.
struct WriteBatch: Batch {
    let statements: [Statement]
    private(set) var error: PostgreSQLError?
    /// Whether the transaction has failed and is still open: a COMMIT that failed has ended it.
    var mustRollBack: Bool { error != nil && !isCommitFailed }
    /// Whether the database has confirmed the commit.
    private var isCommitted = false
    /// Whether the COMMIT failed.
    private var isCommitFailed = false
    /// The steps with the places of their statements.
    private let steps: [(step: WriteStep, places: Range<Int>)]
    private let context: WriteContext
    /// The answers that came, by statement.
    private var answers: [Answer] = []

    init(_ jobs: [Job], deadlineMilliseconds: Int, in context: WriteContext) {
        self.context = context
        var statements = [Statement(.begin), Statement(.guarantee, [.text(String(deadlineMilliseconds))])]
        steps = Self.byOwner(jobs).flatMap { Self.steps(of: $0, in: context) }.map { step in
            let first = statements.count
            statements += step.statements
            return (step, first..<statements.count)
        }
        self.statements = statements + [Statement(.commit)]
        answers.reserveCapacity(statements.count)
    }

    private static func byOwner(_ jobs: [Job]) -> [[Job]] {
        guard jobs.count > 1 else { return [jobs] }
        return Dictionary(grouping: jobs, by: \.owner).sorted { $0.key < $1.key }.map(\.value)
    }

    /// The additions without keys first, then the others in the order in which they came.
    private static func steps(of jobs: [Job], in context: WriteContext) -> [WriteStep] {
        var additions: [(job: Job, write: PostgreSQLWrite, command: AddTask)] = []
        var others: [WriteStep] = []
        for job in jobs {
            guard let write = job.work as? PostgreSQLWrite else { continue }
            if let command = write.command as? AddTask, command.key == nil {
                additions.append((job, write, command))
            } else {
                // The additions do not count as a lock, because they lock nothing where there is no room.
                others.append(WriteStep(job, write, isLocked: !others.isEmpty, in: context))
            }
        }
        guard let first = additions.first?.job else { return others }
        let groups = first.retry.scope == .all ? [additions] : additions.map { [$0] }
        return groups.map { WriteStep(adding: $0, of: first.owner) } + others
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) {
        answers.append(statements[index].answer(rows))
        // A ROLLBACK may come in the place of a COMMIT.
        if statements[index].text == .commit { isCommitted = rows.command == "COMMIT" }
    }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {
        guard self.error == nil else { return }
        self.error = error
        isCommitFailed = index == statements.count - 1
    }

    private var jobs: [Job] { steps.flatMap(\.step.jobs) }

    func result() -> BatchResult {
        if isCommitted { return committed() }
        // The server answers ROLLBACK to a COMMIT of what failed.
        guard let error else { return refused(.unavailable(reason: "a commit was not confirmed")) }
        return BatchResult(
            failed: jobs, error.batchFailure(isCommit: isCommitFailed), StoreError(error), error.report)
    }

    /// The result after the session was lost: what was not committed is refused and never tried again.
    func lost(_ loss: PostgreSQLError) -> BatchResult {
        let error = StoreError.unavailable(reason: loss.description)
        var result = isCommitted ? committed() : refused(error)
        result.verdicts = result.verdicts.map { ($0.job, $0.verdict.isFinal ? $0.verdict : .refuse(error)) }
        result.loss = SessionLoss(loss.description)
        return result
    }

    private func committed() -> BatchResult {
        var result = BatchResult(
            steps.flatMap { step, places in
                zip(step.jobs, step.verdicts(answers[places], in: context)).map { (job: $0, verdict: $1) }
            })
        result.transaction = .committed
        return result
    }

    private func refused(_ error: StoreError) -> BatchResult {
        var result = BatchResult(refusing: jobs, error)
        result.transaction = .failed
        return result
    }
}
