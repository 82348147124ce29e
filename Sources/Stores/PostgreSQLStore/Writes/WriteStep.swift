import PostgreSQL
import Tasks

/// A part of a transaction: the statements of one write, or the one statement of an owner's additions without keys.
struct WriteStep {
    let writes: [any QueuedWrite]
    let statements: [Statement]
    /// The same writes, if they are additions that share a statement.
    private let additions: [Write<AddTask>]

    /// A write with statements of its own.
    ///
    /// With `isLocked` an earlier statement of the transaction has locked the owner's row.
    init(_ write: any QueuedWrite, isLocked: Bool, in context: WriteContext) {
        writes = [write]
        additions = []
        let lock = isLocked || write.locksOwner ? [] : [Statement(.lockOwner, of: write.owner)]
        statements = lock + write.statements(in: context)
    }

    /// Additions of one owner without idempotency keys.
    init(adding additions: [Write<AddTask>], of owner: Owner) {
        writes = additions
        self.additions = additions
        let tasks = additions.map(\.command)
        let parameters: [Parameter] =
            [
                .integer(Int64(tasks.count)), .integer(Int64(Self.limit(of: additions))),
                .texts(tasks.map(\.text.value)), .booleans(tasks.map(\.completed)), .integers(tasks.map(\.time)),
            ] + tasks.map(\.details).parameters
        statements = [Statement(.add, of: owner, parameters)]
    }

    private static func limit(of additions: [Write<AddTask>]) -> Int {
        additions.lazy.map(\.command.limit).min() ?? 0
    }

    /// What becomes of each of the writes, by the answers of the statements in the transaction that was committed.
    func verdicts(_ answers: ArraySlice<Answer>, in context: WriteContext) -> [WriteVerdict] {
        for case .unreadable(let error) in answers { return writes.map { _ in .refuse(error) } }
        guard additions.isEmpty else { return verdicts(ofAdditions: answers.last ?? .nothing) }
        return writes.map { $0.verdict(answers, in: context) }
    }

    private func verdicts(ofAdditions answer: Answer) -> [WriteVerdict] {
        if case .number(let first) = answer, first > 0 {
            return additions.enumerated().map { $1.answer(.added($1.command.item(first + Int64($0)))) }
        }
        if case .number(-1) = answer { return writes.map { _ in .refuse(StoreError(ForeignValue.lastID)) } }
        guard answer != .nothing || additions.count > Self.limit(of: additions) else {
            // Another server made the owner's row at that moment.
            return writes.map { write in
                write.retry.nextTry.map { .retry($0) } ?? .refuse(.unavailable(reason: "an owner's row was not found"))
            }
        }
        return additions.count == 1 ? [additions[0].answer(.full)] : writes.map { .retry($0.retry.afterSplit) }
    }
}
