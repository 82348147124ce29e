import PostgreSQL
import StoreEngine
import Tasks

/// Writes that share a transaction and its commit: which statements to send, and what their answers mean for each write.
///
/// Owners come in the order of their names, and their rows in `owners` are locked first, so that transactions of many
/// servers cause no deadlock.
struct WriteBatch: Batch {
    let statements: [Statement]
    private var end = End.unconfirmed
    /// The steps with the places of their statements.
    private let steps: [(step: WriteStep, places: Range<Int>)]
    private let context: WriteContext
    /// The answers that came, by statement.
    private var answers: [Answer] = []

    /// The end of the transaction, as far as the database has reported it.
    private enum End {
        case unconfirmed
        case committed
        /// A statement has failed, perhaps the COMMIT.
        case failed(PostgreSQLError, isCommit: Bool)
    }

    init(_ jobs: [Job], deadlineMilliseconds: Int, in context: WriteContext) {
        self.context = context
        var statements = [Statement(.begin), Statement(.guarantee, [.text(String(deadlineMilliseconds))])]
        steps = Self.byOwner(jobs).flatMap { Self.steps(of: $0, in: context) }.map { step in
            let first = statements.count
            statements += step.statements
            return (step, first..<statements.count)
        }
        statements.append(Statement(.commit))
        self.statements = statements
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
        if statements[index].kind == .commit, rows.command == "COMMIT" { end = .committed }
    }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {
        guard case .unconfirmed = end else { return }
        end = .failed(error, isCommit: statements[index].kind == .commit)
    }

    private var jobs: [Job] { steps.flatMap(\.step.jobs) }

    /// Whether the transaction has failed and is still open: a COMMIT that failed has ended it.
    var mustRollBack: Bool { if case .failed(_, isCommit: false) = end { true } else { false } }

    func result() -> BatchResult {
        switch end {
        case .committed: committed()
        case .unconfirmed: refused(.unavailable(reason: "a commit was not confirmed"))
        case .failed(let error, let isCommit):
            BatchResult(failed: jobs, error.batchFailure(isCommit: isCommit), StoreError(error), error.report)
        }
    }

    func lost(_ loss: PostgreSQLError) -> BatchResult {
        let result = if case .committed = end { committed() } else { refused(.unavailable(reason: loss.description)) }
        return result.lost(SessionLoss(loss.description))
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
