import Tasks

/// What the rows of a statement in a transaction say, as a value.
enum Answer: Sendable, Equatable {
    /// No row, or none that matters.
    case nothing
    /// The id of the first of the tasks that were added.
    case firstID(Int64)
    /// No task was added, because the owner would have too many.
    case full
    /// The next id of an owner, by the owner's row.
    case nextID(Int64)
    /// How many tasks were removed, or changed by a list of changes that has too long tasks for one answer.
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
