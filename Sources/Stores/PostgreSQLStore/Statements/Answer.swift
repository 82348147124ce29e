import PostgreSQL
import Tasks

/// What the rows of a statement in a transaction say, as a value.
enum Answer: Sendable, Equatable {
    /// No row, or none that matters.
    case nothing
    /// An id or a count.
    case number(Int64)
    case task(TaskItem)
    /// The task of an idempotency key, added now or by an earlier request of this fingerprint.
    case attempt(isNew: Bool, fingerprint: UInt64, TaskItem)
    /// A row that this program did not write.
    case unreadable(StoreError)
    /// The transaction ended, by COMMIT or by a ROLLBACK in its place.
    case ended(isCommitted: Bool)
}

extension Statement {
    /// What rows say that this statement gave.
    func answer(_ rows: borrowing Rows) -> Answer {
        switch text {
        case .transaction(.commit): return .ended(isCommitted: rows.command == "COMMIT")
        case .transaction: return .nothing
        case .task(let statement):
            guard rows.count > 0, let owner else { return .nothing }
            do throws(StoreError) {
                return try Self.answer(statement, rows, of: owner)
            } catch {
                return .unreadable(error)
            }
        }
    }

    private static func answer(
        _ statement: TaskStatement, _ rows: borrowing Rows, of owner: Owner
    ) throws(StoreError) -> Answer {
        switch statement {
        case .addOne, .add, .remove, .removeText: return .number(rows.integer(0, 0))
        case .lockTask, .change: return .task(try TaskColumns.item(in: rows, 0, of: owner))
        case .addOnce:
            let time = rows.integer(0, 5)
            let item = TaskItem(
                id: rows.integer(0, 2), owner: owner, text: try TaskColumns.text(rows.text(0, 3)),
                completed: rows.boolean(0, 4), created: time, modified: time)
            let fingerprint = UInt64(bitPattern: rows.integer(0, 1))
            return .attempt(isNew: rows.boolean(0, 0), fingerprint: fingerprint, item)
        case .list, .page, .longPage, .find, .forgetAttempts, .makeOwner, .lockOwner, .probe: return .nothing
        }
    }
}
