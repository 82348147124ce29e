import PostgreSQL
import Tasks

/// Writes that share a transaction and its commit: which statements to send, and what their answers mean for each write.
///
/// Owners come in the order of their names, and before anything else of an owner its row of `owners` is locked: so
/// transactions of many servers wait for each other in one direction, and cause no deadlock.
struct WriteBatch: Batch {
    let statements: [Statement]
    /// Whether the database has confirmed the commit.
    private var isCommitted = false
    private let steps: [WriteStep]
    private let context: WriteContext
    /// By statement; those that came.
    private var answers: [Answer] = []
    private var failure: (error: PostgreSQLError, index: Int)?

    init(_ writes: [any QueuedWrite], deadlineMilliseconds: Int, in context: WriteContext) {
        self.context = context
        steps = Self.byOwner(writes).flatMap { Self.steps(of: $0, in: context) }
        var statements = [Statement(.begin), Statement(.guarantee, [.text(String(deadlineMilliseconds))])]
        for step in steps { statements += step.statements }
        statements.append(Statement(.commit))
        self.statements = statements
        answers.reserveCapacity(statements.count)
    }

    private static func byOwner(_ writes: [any QueuedWrite]) -> [[any QueuedWrite]] {
        guard writes.count > 1 else { return [writes] }
        let groups = Dictionary(grouping: writes) { $0.owner }
        guard groups.count > 1 else { return [writes] }
        return groups.keys.sorted().compactMap { groups[$0] }
    }

    /// The additions without keys first, then the others in the order in which they came.
    private static func steps(of writes: [any QueuedWrite], in context: WriteContext) -> [WriteStep] {
        var together: [Write<AddTask>] = []
        var (split, others): ([WriteStep], [WriteStep]) = ([], [])
        for write in writes {
            if let addition = write as? Write<AddTask>, addition.command.key == nil {
                if addition.retry.isSplit {
                    split.append(WriteStep(adding: [addition], of: addition.owner))
                } else {
                    together.append(addition)
                }
            } else {
                // The additions do not count as a lock: where there was no room they have locked nothing.
                others.append(WriteStep(write, isLocked: !others.isEmpty, in: context))
            }
        }
        guard let first = together.first else { return split + others }
        return split + [WriteStep(adding: together, of: first.owner)] + others
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) {
        receive(statements[index].answer(rows))
    }

    /// Takes the answer of the next statement.
    mutating func receive(_ answer: Answer) {
        answers.append(answer)
        if answer == .ended(isCommitted: true) { isCommitted = true }
    }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {
        failure = failure ?? (error, index)
    }

    func result() -> BatchResult {
        if let failure { return result(after: failure.error, at: failure.index) }
        // The server answers ROLLBACK to a COMMIT of what failed.
        return isCommitted ? committed() : refused(.unavailable(reason: "a commit was not confirmed"))
    }

    func lost(_ error: StoreError) -> BatchResult {
        guard isCommitted else { return refused(error) }
        var result = committed()
        result.verdicts = result.verdicts.map { $0.isRetry ? .refuse(error) : $0 }
        return result
    }

    private func result(after error: PostgreSQLError, at index: Int) -> BatchResult {
        // A COMMIT that failed has ended the transaction.
        let isCommit = index == statements.count - 1
        var result = BatchResult(writes: steps.flatMap(\.writes))
        result.error = error
        result.mustRollBack = !isCommit
        result.verdicts = result.writes.map { write in
            write.retry.afterFailure(error.kind, isCommit: isCommit, isShared: result.writes.count > 1)
                .map { .retry($0) } ?? .refuse(StoreError(error))
        }
        return result
    }

    private func committed() -> BatchResult {
        var result = BatchResult(writes: steps.flatMap(\.writes))
        result.isCommitted = true
        var index = 2
        for step in steps {
            result.verdicts += step.verdicts(answers[index..<(index + step.statements.count)], in: context)
            index += step.statements.count
        }
        // Those to be tried again have written nothing yet.
        result.hasWritten = zip(result.writes, result.verdicts).contains { !$1.isRetry && $0.writes(in: context) }
        return result
    }

    private func refused(_ error: StoreError) -> BatchResult {
        var result = BatchResult(writes: steps.flatMap(\.writes))
        result.verdicts = result.writes.map { _ in .refuse(error) }
        return result
    }
}

/// Ends a transaction that failed.
struct RollBackBatch: Batch {
    let statements = [Statement(.rollBack)]

    func receive(_ rows: borrowing Rows, at index: Int) {}
    func fail(_ error: PostgreSQLError, at index: Int) {}
    func result() -> BatchResult { BatchResult() }
    func lost(_ error: StoreError) -> BatchResult { BatchResult() }
}
