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
