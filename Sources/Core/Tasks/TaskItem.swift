/// One task of one owner.
package struct TaskItem: Sendable, Equatable {
    /// Counted from 1 for each owner; never reused.
    package let id: Int64
    package let owner: Owner
    package var text: TaskText
    package var completed: Bool
    /// When it was added: milliseconds since 1970, UTC.
    package let created: Int64
    /// When it was added or last changed: milliseconds since 1970, UTC.
    package var modified: Int64
    /// Incremented by every change, from 1 (``Swift/Int64/nextRevision``); with the id it makes the entity tag.
    package var revision: Int64
    package var details: TaskDetails

    package init(
        id: Int64, owner: Owner, text: TaskText, completed: Bool = false, created: Int64, modified: Int64,
        revision: Int64 = 1, details: TaskDetails = TaskDetails()
    ) {
        self.id = id
        self.owner = owner
        self.text = text
        self.completed = completed
        self.created = created
        self.modified = modified
        self.revision = revision
        self.details = details
    }
}

extension TaskItem {
    /// The task after a change, or nil if nothing differs: then it keeps its revision and its time.
    package func applying(_ change: TaskChange, at time: Int64) -> TaskItem? {
        var changed = self
        changed.text = change.text ?? text
        changed.completed = change.completed ?? completed
        changed.details = change.details.applied(to: details)
        guard changed != self else { return nil }
        changed.modified = time
        changed.revision = revision.nextRevision
        return changed
    }
}
