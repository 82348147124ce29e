import Basics

/// A value in a table of tasks that task-server does not write: another program has written it, or it is damaged.
package struct ForeignValue: Error, Sendable, Equatable {
    /// What it is, for a person; never the value itself.
    package let message: String

    private init(_ kind: String, _ reason: String = "") {
        message = "a \(kind) in the table of tasks is not one that task-server writes\(reason)"
    }

    fileprivate init(_ failure: TaskText.Failure) { self.init("text", ": \(failure)") }

    fileprivate static let date = ForeignValue("date")
    fileprivate static let position = ForeignValue("position")
}

extension TaskText {
    /// A text that was stored.
    package init(stored value: String) throws(ForeignValue) {
        self = try rethrowing(as: ForeignValue.init) { () throws(Failure) in try TaskText(value) }
    }
}

extension TaskDetails {
    /// Details that were stored, nil where nothing was set.
    package init(storedDue due: String?, notes: String?, position: Double?) throws(ForeignValue) {
        self.init()
        if let due {
            guard let date = DueDate(due) else { throw .date }
            self.due = date
        }
        if let notes {
            self.notes = try rethrowing(as: ForeignValue.init) { () throws(TaskText.Failure) in try TaskNotes(notes) }
        }
        if let position {
            guard let position = TaskPosition(position) else { throw .position }
            self.position = position
        }
    }
}
