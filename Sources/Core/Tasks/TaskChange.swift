package import Basics

/// A change of a task; a member that is nil stays as it is.
package struct TaskChange: Sendable, Equatable {
    package var text: TaskText?
    package var completed: Bool?
    package var details: TaskDetailsChange
    /// The day on which the person completes a task that comes again; nil: that of UTC.
    package var completedOn: CivilDate?
    /// The values under their old names, if one of them disagrees; then the stored task decides which name counts.
    package var oldNames: OldNames?

    package init(
        text: TaskText? = nil, completed: Bool? = nil, details: TaskDetailsChange = TaskDetailsChange()
    ) {
        self.text = text
        self.completed = completed
        self.details = details
    }

    /// The bytes of the texts and details.
    var bytes: Int {
        (text?.value.utf8.count ?? 0) + (oldNames?.text?.value.utf8.count ?? 0) + details.values.bytes
    }
}

extension TaskChange {
    /// The values of a change under their old names, `Text` and `Completed` (docs/internals/clients.md, "Answers").
    package struct OldNames: Sendable, Equatable {
        package var text: TaskText?
        package var completed: Bool?
        /// The `DateModified` of the task that is sent back.
        package var modified: String?

        package init(text: TaskText?, completed: Bool?, modified: String?) {
            self.text = text
            self.completed = completed
            self.modified = modified
        }
    }

    /// A contradiction in a change, or between the change and the task.
    package enum Contradiction: Error, Sendable, Equatable {
        /// Both names of the value differ from what is stored, and from each other.
        case text
        case completed
        /// The task would repeat without a day on which it is due.
        case repeatWithoutDue
        /// A finished task would repeat.
        case repeatOfFinished
    }

    /// The change of this task: if two names disagree, the one counts whose value differs from the stored value.
    ///
    /// A client that sends back a task as it read it changes one name and leaves the other (`{...task, completed:
    /// true}`).
    package func decided(by item: TaskItem) throws(Contradiction) -> TaskChange {
        guard let oldNames else { return self }
        let isOlder = oldNames.modified.map { !Timestamp(milliseconds: item.modified).text.isSame(as: $0) } ?? false
        guard let text = Self.value(text, oldNames.text, stored: item.text, isOlder) else { throw .text }
        guard let completed = Self.value(completed, oldNames.completed, stored: item.completed, isOlder) else {
            throw .completed
        }
        var decided = self
        (decided.text, decided.completed, decided.oldNames) = (text, completed, nil)
        return decided
    }

    /// The value that counts; nil if both names differ from what is stored.
    ///
    /// In a copy that is older than the task, the old name never counts alone: a change may be repeated because its
    /// answer was lost, and the old name would undo the change.
    private static func value<Value: Equatable>(_ new: Value?, _ old: Value?, stored: Value, _ isOlder: Bool) -> Value?
    {
        guard let new else { return stored }
        guard let old, old != new, old != stored else { return new }
        guard new == stored else { return nil }
        return isOlder ? new : old
    }
}
