/// Removes a task, if its revision is among the expected ones.
package struct RemoveTask: TaskCommand {
    package typealias Outcome = RemoveOutcome
    package let owner: Owner
    package var issued = Int64.max
    package let id: Int64
    /// The revisions that the task may have; nil: any.
    package let expected: Set<Int64>?
    /// Milliseconds since 1970, UTC.
    package let time: Int64

    package init(owner: Owner, id: Int64, expected: Set<Int64>?, time: Int64) {
        self.owner = owner
        self.id = id
        self.expected = expected
        self.time = time
    }

    package var reads: CommandReads { .revision(id) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> RemoveOutcome {
        guard let revision = try tasks.revision(of: id) else { return .missing }
        guard expected?.contains(revision) ?? true else { return .conflict }
        try tasks.remove([id], at: time)
        return .removed
    }
}

/// Removes the owner's tasks of a selection, at most ``most`` of them; the outcome is their number.
///
/// A store repeats the command until no task is left for it, so that other writes have their turn in between.
package struct RemoveTasks: TaskCommand {
    package typealias Outcome = Int

    package enum Selection: Sendable {
        case withText(TaskText)
        case completed
        /// The tasks with lower ids.
        case before(Int64)

        package func contains(_ item: TaskItem) -> Bool {
            switch self {
            case .withText(let text): item.text == text
            case .completed: item.completed
            case .before(let id): item.id < id
            }
        }
    }

    package let owner: Owner
    package var issued = Int64.max
    package let selection: Selection
    /// Milliseconds since 1970, UTC.
    package let time: Int64

    package init(owner: Owner, _ selection: Selection, time: Int64) {
        self.owner = owner
        self.selection = selection
        self.time = time
    }

    /// The most tasks that are removed at once.
    package static let most = 256

    /// The number of tasks is not known before, so a removal counts as the most that it removes.
    package var weight: Int { Self.most }
    package var reads: CommandReads { .selection(selection) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Int {
        let ids = try tasks.ids(of: selection)
        try tasks.remove(ids, at: time)
        return ids.count
    }
}

package enum RemoveOutcome: Sendable, Equatable {
    /// Removed, durably.
    case removed
    /// No such task under this owner.
    case missing
    /// The task exists, but has none of the expected revisions.
    case conflict
}
