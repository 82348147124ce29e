import PostgreSQL
import Tasks

/// Writes that share a transaction and its commit: which statements to send, and what their answers mean for each write.
///
/// Owners come in the order of their names, and before anything else of an owner its row of `owners` is locked: so
/// transactions of many servers wait for each other in one direction, and cause no deadlock.
struct WriteBatch: Batch {
    let isWriting = true
    let statements: [Statement]
    private(set) var isCommitted = false
    private let steps: [WriteStep]
    private let isProbing: Bool
    /// By statement; those that came.
    private var answers: [Answer] = []
    private var failure: (error: PostgreSQLError, index: Int)?

    /// With `isProbing` a check of the database writes as an addition does, and counts as written.
    init(_ writes: [Write], deadlineMilliseconds: Int, isProbing: Bool) {
        self.isProbing = isProbing
        var steps: [WriteStep] = []
        for group in Self.byOwner(writes) { steps += Self.steps(of: group, isProbing: isProbing) }
        var statements = [Statement(.begin), Statement(.guarantee, [.text(String(deadlineMilliseconds))])]
        for step in steps { statements += step.statements }
        statements.append(Statement(.commit))
        (self.steps, self.statements) = (steps, statements)
        answers.reserveCapacity(statements.count)
    }

    private static func byOwner(_ writes: [Write]) -> [[Write]] {
        guard writes.count > 1 else { return [writes] }
        let groups = Dictionary(grouping: writes, by: \.owner)
        guard groups.count > 1 else { return [writes] }
        return groups.keys.sorted().compactMap { groups[$0] }
    }

    /// The additions without keys first, then the others in the order in which they came.
    private static func steps(of writes: [Write], isProbing: Bool) -> [WriteStep] {
        var (together, tasks): ([Write], [AddTask]) = ([], [])
        var (split, others): ([WriteStep], [WriteStep]) = ([], [])
        for write in writes {
            guard case .add(let task) = write.command, task.key == nil else {
                // Not by the additions: where there was no room they have locked nothing.
                others.append(WriteStep(write, isLocked: !others.isEmpty, isProbing: isProbing))
                continue
            }
            if write.retry.isSplit {
                split.append(WriteStep(adding: [write], [task], of: write.owner))
            } else {
                together.append(write)
                tasks.append(task)
            }
        }
        guard let first = together.first else { return split + others }
        return split + [WriteStep(adding: together, tasks, of: first.owner)] + others
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
            result.verdicts += step.verdicts(answers[index..<(index + step.statements.count)])
            index += step.statements.count
        }
        // Those to be tried again have written nothing yet.
        result.hasWritten = zip(result.writes, result.verdicts).contains { write, verdict in
            if verdict.isRetry { return false }
            if case .check = write.command { return isProbing }
            return true
        }
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
    let isWriting = true
    let isCommitted = false
    let statements = [Statement(.rollBack)]

    func receive(_ rows: borrowing Rows, at index: Int) {}
    func fail(_ error: PostgreSQLError, at index: Int) {}
    func result() -> BatchResult { BatchResult() }
    func lost(_ error: StoreError) -> BatchResult { BatchResult() }
}
