/// A change of one owner's tasks, as a value that a store can queue, run and answer.
package protocol TaskCommand: Sendable {
    /// The outcome that the caller gets once the change is durable.
    associatedtype Outcome: CommandOutcome
    /// The owner of the tasks.
    var owner: Owner { get }
}

package protocol CommandOutcome: Sendable {
    /// Whether the list of the owner's tasks differs now.
    var changesList: Bool { get }
}

/// The number of tasks that were removed.
extension Int: CommandOutcome {
    package var changesList: Bool { self > 0 }
}

/// Adds a task.
///
/// A key makes a retry safe: the same key of the same owner adds once and answers the same task again, for a day, and
/// while at most ``IdempotencyKey/remembered`` tasks of the owner are as new or newer. Keys beyond that are removed by
/// the owner's next addition with a key; keys older than a day are removed soon, without one. An owner who has `limit`
/// tasks already gets ``AddOutcome/full``.
package struct AddTask: TaskCommand {
    package typealias Outcome = AddOutcome
    package let owner: Owner
    package let text: TaskText
    package let completed: Bool
    package let details: TaskDetails
    /// Milliseconds since 1970, UTC.
    package let time: Int64
    package let key: IdempotencyKey?
    /// The number of tasks that an owner may have.
    package let limit: Int

    package init(
        owner: Owner, text: TaskText, completed: Bool, details: TaskDetails = TaskDetails(), time: Int64,
        key: IdempotencyKey?, limit: Int
    ) {
        self.owner = owner
        self.text = text
        self.completed = completed
        self.details = details
        self.time = time
        self.key = key
        self.limit = limit
    }

    /// The task that this command adds under an id.
    package func item(_ id: Int64) -> TaskItem {
        TaskItem(
            id: id, owner: owner, text: text, completed: completed, created: time, modified: time, details: details)
    }
}

/// Changes a task, if its revision is among the expected ones.
package struct ChangeTask: TaskCommand {
    package typealias Outcome = ChangeOutcome
    package let owner: Owner
    package let id: Int64
    package let change: TaskChange
    /// The revisions that the task may have; nil: any.
    package let expected: Set<Int64>?
    /// Milliseconds since 1970, UTC.
    package let time: Int64

    package init(owner: Owner, id: Int64, change: TaskChange, expected: Set<Int64>?, time: Int64) {
        self.owner = owner
        self.id = id
        self.change = change
        self.expected = expected
        self.time = time
    }

    /// The outcome of the command for the task as it is now, or for none.
    package func outcome(for item: TaskItem?) -> ChangeOutcome {
        guard let item else { return .missing }
        guard item.isExpected(expected) else { return .conflict(item) }
        return .changed(item.applying(change, at: time) ?? item)
    }
}

extension TaskItem {
    /// Whether the task has one of the revisions that a client expects; nil: any.
    package func isExpected(_ revisions: Set<Int64>?) -> Bool { revisions?.contains(revision) ?? true }
}

/// Makes changes of several tasks, each named once: all of them or none.
///
/// The command never fails for lack of memory for the answer.
package struct ChangeTasks: TaskCommand {
    package typealias Outcome = ChangeAllOutcome
    package let owner: Owner
    package let changes: [IdentifiedChange]
    /// Milliseconds since 1970, UTC.
    package let time: Int64

    package init(owner: Owner, changes: [IdentifiedChange], time: Int64) {
        self.owner = owner
        self.changes = changes
        self.time = time
    }

    /// The outcome and the changed tasks, by the tasks that exist, in the order of the changes.
    ///
    /// There are no changed tasks if the list is refused. The answer takes its memory from `answers`.
    package func outcome(
        for found: [TaskItem], in answers: AnswerMemory
    ) -> (outcome: ChangeAllOutcome, tasks: [TaskItem]) {
        let revisions = Dictionary(found.lazy.map { ($0.id, $0.revision) }) { first, _ in first }
        if let refusal = changes.refusal(atRevisions: revisions) { return (refusal, []) }
        let tasks = zip(found, changes).map { $0.applying($1.change, at: time) ?? $0 }
        return (.changed(answer(with: tasks, in: answers)), tasks)
    }

    /// The tasks of the answer; nil if they are too long for one answer, or if there is no memory for it.
    package func answer(with tasks: some Sequence<TaskItem>, in answers: AnswerMemory) -> TaskList? {
        var page = TaskPage(of: owner, atMost: nil, in: answers)
        for task in tasks {
            guard (try? page.append(task)) == true else { return nil }
        }
        return page.list()
    }
}

/// Removes a task, if its revision is among the expected ones.
package struct RemoveTask: TaskCommand {
    package typealias Outcome = RemoveOutcome
    package let owner: Owner
    package let id: Int64
    /// The revisions that the task may have; nil: any.
    package let expected: Set<Int64>?

    package init(owner: Owner, id: Int64, expected: Set<Int64>?) {
        self.owner = owner
        self.id = id
        self.expected = expected
    }

    /// The outcome of the command for the task as it is now, or for none.
    package func outcome(for item: TaskItem?) -> RemoveOutcome {
        guard let item else { return .missing }
        return item.isExpected(expected) ? .removed : .conflict
    }
}

/// Removes all of the owner's tasks of a selection; the outcome is their number.
package struct RemoveTasks: TaskCommand {
    package typealias Outcome = Int

    package enum Selection: Sendable {
        case withText(TaskText)
        case completed
    }

    package let owner: Owner
    package let selection: Selection

    package init(owner: Owner, _ selection: Selection) {
        self.owner = owner
        self.selection = selection
    }
}
