import PostgreSQL
import StoreEngine
import Tasks

/// A part of a transaction: the statements of one write, or the one statement of an owner's additions without keys.
struct WriteStep {
    let jobs: [Job]
    let statements: [Statement]
    private let writes: [PostgreSQLWrite]

    /// A write with statements of its own.
    ///
    /// If `isLocked` is true, an earlier statement of the transaction has locked the owner's row.
    init(_ job: Job, _ write: PostgreSQLWrite, isLocked: Bool, in context: WriteContext) {
        (jobs, writes) = ([job], [write])
        let own = write.command.statements(in: context)
        let hasLock = isLocked || own.contains { $0.kind == .lockOwner }
        statements = (hasLock ? [] : [Statement(.lockOwner, of: job.owner)]) + own
    }

    /// Additions of one owner without idempotency keys.
    init(adding additions: [(job: Job, write: PostgreSQLWrite, command: AddTask)], of owner: Owner) {
        (jobs, writes) = (additions.map(\.job), additions.map(\.write))
        statements = [AddTask.statement(adding: additions.map(\.command), of: owner)]
    }

    /// What becomes of each of the writes, by the answers of the statements in the transaction that was committed.
    func verdicts(_ answers: ArraySlice<Answer>, in context: WriteContext) -> [Verdict] {
        for case .unreadable(let error) in answers { return writes.map { _ in .refuse(error) } }
        switch answers.last {
        case .firstID(let first)?:
            return writes.enumerated().map { $1.verdict([.firstID(first + Int64($0))], context) }
        case .full? where writes.count > 1: return jobs.map { .again($0.again($0.retry.afterSplit)) }
        case .nothing? where statements.last?.kind == .add: return jobs.map(Self.afterRace)
        default: return writes.map { $0.verdict(answers, context) }
        }
    }

    /// What becomes of an addition where another server made the owner's row at the same moment.
    private static func afterRace(_ job: Job) -> Verdict {
        job.retry.nextTry().map { .again(job.again($0)) }
            ?? .refuse(.unavailable(reason: "an owner's row was not found"))
    }
}
