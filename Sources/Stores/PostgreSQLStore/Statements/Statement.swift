import PostgreSQL
import Tasks

/// A statement with its parameters, as a session sends it.
struct Statement: Sendable {
    let kind: TaskStatement
    /// The owner whose tasks the statement concerns, its `$1`; nil if it concerns no owner.
    let owner: Owner?
    let parameters: [Parameter]

    /// The `others` come after the owner.
    init(_ kind: TaskStatement, of owner: Owner? = nil, _ others: [Parameter] = []) {
        self.kind = kind
        self.owner = owner
        parameters = (owner.map { [.text($0.identifier)] } ?? []) + others
    }

    /// The name of the statement in a session in which it was prepared; otherwise its SQL.
    func form(isPrepared: Bool) -> PipelineConnection.Statement {
        isPrepared && kind.isPrepared ? .prepared(kind.preparedName) : .text(kind.sql)
    }

    /// What rows say that this statement gave.
    func answer(_ rows: borrowing Rows) -> Answer {
        guard rows.count > 0, let owner else { return .nothing }
        do throws(ForeignValue) {
            return try kind.answer(rows, of: owner)
        } catch {
            return .unreadable(StoreError(error))
        }
    }
}

/// The meaning of the rows that a statement in a transaction has given.
enum Answer: Sendable, Equatable {
    /// No row, or none that matters.
    case nothing
    /// The id of the first of the tasks that were added.
    case firstID(Int64)
    /// No task was added, because the owner would have too many.
    case full
    /// The next id of an owner, by the owner's row.
    case nextID(Int64)
    /// How many tasks were removed, or were changed by a list of changes whose tasks are too long for one answer.
    case count(Int)
    case task(TaskItem)
    /// The tasks of a list of changes, if they are short enough for one answer.
    case tasks([TaskItem])
    /// By id.
    case revisions([Int64: Int64])
    /// An idempotency key and its task, which was added now or by an earlier request.
    case attempt(isNew: Bool, IdempotencyRecord)
    /// A row that this program did not write.
    case unreadable(StoreError)
}
