import PostgreSQL
import StoreEngine
import Tasks

/// A part of a transaction: the statements of one write, or the one statement of an owner's additions without keys.
struct WriteStep {
    /// An addition without an idempotency key.
    typealias Addition = (job: Job, write: PostgreSQLWrite, command: AddTask)

    let jobs: [Job]
    let statements: [Statement]
    private let writes: [PostgreSQLWrite]
    /// The same writes, if they are additions that share a statement.
    private let additions: [Addition]

    /// A write with statements of its own.
    ///
    /// If `isLocked` is true, an earlier statement of the transaction has locked the owner's row.
    init(_ job: Job, _ write: PostgreSQLWrite, isLocked: Bool, in context: WriteContext) {
        (jobs, writes, additions) = ([job], [write], [])
        let lock = isLocked || write.command.locksOwner ? [] : [Statement(.lockOwner, of: job.owner)]
        statements = lock + write.command.statements(in: context)
    }

    /// Additions of one owner without idempotency keys.
    init(adding additions: [Addition], of owner: Owner) {
        (jobs, writes, self.additions) = (additions.map(\.job), additions.map(\.write), additions)
        let tasks = additions.map(\.command)
        let parameters: [Parameter] =
            [
                .integer(Int64(tasks.count)), .integer(Int64(Self.limit(of: additions))),
                .texts(tasks.map(\.text.value)), .booleans(tasks.map(\.completed)), .integers(tasks.map(\.time)),
            ] + tasks.map(\.details).parameters
        statements = [Statement(.add, of: owner, parameters)]
    }

    private static func limit(of additions: [Addition]) -> Int { additions.map(\.command.limit).min() ?? 0 }

    /// What becomes of each of the writes, by the answers of the statements in the transaction that was committed.
    func verdicts(_ answers: ArraySlice<Answer>, in context: WriteContext) -> [Verdict] {
        for case .unreadable(let error) in answers { return writes.map { _ in .refuse(error) } }
        guard additions.isEmpty else { return verdicts(ofAdditions: answers.last ?? .nothing, in: context) }
        return writes.map { $0.verdict(answers, context) }
    }

    private func verdicts(ofAdditions answer: Answer, in context: WriteContext) -> [Verdict] {
        if case .number(let first) = answer, first > 0 {
            return additions.enumerated().map { index, addition in
                addition.write.verdict([.task(addition.command.item(first + Int64(index)))], context)
            }
        }
        if case .number(-1) = answer { return writes.map { _ in .refuse(StoreError(ForeignValue.lastID)) } }
        guard answer != .nothing || additions.count > Self.limit(of: additions) else {
            // Another server made the owner's row at that moment.
            return jobs.map { job in
                job.retry.nextTry().map { .again(job.again($0)) }
                    ?? .refuse(.unavailable(reason: "an owner's row was not found"))
            }
        }
        guard additions.count > 1 else { return writes.map { $0.verdict([.nothing], context) } }
        return jobs.map { .again($0.again($0.retry.afterSplit)) }
    }
}
