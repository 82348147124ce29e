import Tasks

/// What the rows of a statement in a transaction say, as a value.
enum Answer: Sendable, Equatable {
    /// No row, or none that matters.
    case nothing
    /// An id or a count.
    case number(Int64)
    case task(TaskItem)
    /// The tasks of a list of changes; ``number(_:)`` if they are too long for one answer.
    case tasks([TaskItem])
    /// By id.
    case revisions([Int64: Int64])
    /// An idempotency key and its task, which was added now or by an earlier request.
    case attempt(isNew: Bool, IdempotencyRecord)
    /// A row that this program did not write.
    case unreadable(StoreError)
}
