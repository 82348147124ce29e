/// One task of one owner.
public struct TaskItem: Sendable, Equatable {
    /// Counted from 1 under its owner, never used again.
    public let id: Int64
    /// Whose it is.
    public let owner: Owner
    /// The words.
    public var text: TaskText
    /// Whether it is done.
    public var completed: Bool
    /// When it was added: milliseconds since 1970, UTC.
    public let created: Int64
    /// When it was added or last changed: milliseconds since 1970, UTC.
    public var modified: Int64
    /// Counted up by every change, from 1: with the id it makes the entity tag.
    public var revision: Int64

    /// A task of these parts.
    public init(
        id: Int64, owner: Owner, text: TaskText, completed: Bool = false, created: Int64, modified: Int64,
        revision: Int64 = 1
    ) {
        self.id = id
        self.owner = owner
        self.text = text
        self.completed = completed
        self.created = created
        self.modified = modified
        self.revision = revision
    }
}
