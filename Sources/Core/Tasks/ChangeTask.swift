/// Changes a task, if its revision is among the expected ones.
package struct ChangeTask: TaskCommand {
    package typealias Outcome = ChangeOutcome
    package let owner: Owner
    package var issued = Int64.max
    package let id: Int64
    package let change: TaskChange
    /// The revisions that the task may have; nil: any.
    package let expected: Set<Int64>?
    /// Milliseconds since 1970, UTC.
    package let time: Int64
    /// The number of tasks that an owner may have.
    package let limit: Int

    package init(
        owner: Owner, id: Int64, change: TaskChange, expected: Set<Int64>?, time: Int64, limit: Int = .max
    ) {
        self.owner = owner
        self.id = id
        self.change = change
        self.expected = expected
        self.time = time
        self.limit = limit
    }

    package var payload: Int { change.bytes }
    package var reads: CommandReads { .tasks([id]) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> ChangeOutcome {
        guard let item = try tasks.task(id) else { return .missing }
        guard expected?.contains(item.revision) ?? true else { return .conflict(item) }
        let changed: ChangedTask?
        do { changed = try item.applying(try change.decided(by: item), at: time) } catch {
            return .contradiction(error)
        }
        guard let changed else { return .changed(item) }
        if changed.next != nil, let row = try tasks.row(), row.tasks >= limit { return .full }
        let next = try tasks.replace(item, with: changed)
        return next.map { .completed(changed.task, next: $0) } ?? .changed(changed.task)
    }
}

/// Makes changes of several tasks, each named once: all of them or none.
///
/// The answer has as many tasks as fit in a page, in the order of the changes; the others are after its
/// ``TaskList/next``. The command never fails for lack of a place for the answer.
package struct ChangeTasks: TaskCommand {
    package typealias Outcome = ChangeAllOutcome
    package let owner: Owner
    package var issued = Int64.max
    package let changes: [IdentifiedChange]
    /// Milliseconds since 1970, UTC.
    package let time: Int64
    /// The number of tasks that an owner may have.
    package let limit: Int

    /// The names that the tasks of the answer have.
    package var names = TaskNames.both

    package init(owner: Owner, changes: [IdentifiedChange], time: Int64, limit: Int = .max) {
        self.owner = owner
        self.changes = changes
        self.time = time
        self.limit = limit
    }

    package var weight: Int { changes.count }
    package var payload: Int { changes.reduce(0) { $0 + MemoryLayout<IdentifiedChange>.stride + $1.change.bytes } }
    package var reads: CommandReads { .tasks(changes.map(\.id)) }

    /// Looks at all revisions, and at the tasks that may refuse their changes, before it changes a task.
    ///
    /// A list that is refused must leave nothing in a shared transaction.
    ///
    /// Then each task is read, changed and rendered alone, because a list with its notes could take 20 MiB.
    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> ChangeAllOutcome {
        var revisions: [Int64: Int64] = [:]
        for change in changes { revisions[change.id] = try tasks.revision(of: change.id) }
        if let refusal = changes.refusal(atRevisions: revisions) { return refusal }
        var changes = changes
        let room = Int64(limit) - (try tasks.row()?.tasks ?? 0)
        let mayFill = changes.count { $0.change.completed == true } > room
        var added: Int64 = 0
        for (index, change) in changes.enumerated() where change.change.needsTask || mayFill {
            guard let item = try tasks.task(change.id) else { continue }
            do {
                changes[index].change = try change.change.decided(by: item)
                if try item.applying(changes[index].change, at: time)?.next != nil { added += 1 }
            } catch { return .contradiction(number: index + 1, error) }
        }
        guard added == 0 || added <= room else { return .full }
        var page = TaskPage(of: owner, names, atMost: nil, in: tasks.answers)
        // The least id of the tasks that the page has no room for.
        var least: Int64?
        for change in changes {
            guard let item = try tasks.task(change.id) else { continue }
            // The check above has found no change that its task refuses.
            let changed = try? item.applying(change.change, at: time)
            if let changed { _ = try tasks.replace(item, with: changed) }
            let isShown = least == nil && (try? page.append(changed?.task ?? item)) == true
            if !isShown { least = min(least ?? item.id, item.id) }
        }
        let list = page.list()
        return .changed(least.map { list.followed(after: $0 - 1) } ?? list)
    }
}

package enum ChangeOutcome: Sendable, Equatable {
    /// Changed, durably. If nothing differed, this is the task as it is, with its revision unchanged.
    case changed(TaskItem)
    /// Completed, durably; the task that comes next has this id.
    case completed(TaskItem, next: Int64)
    /// No such task under this owner.
    case missing
    /// The task exists, but has none of the expected revisions.
    case conflict(TaskItem)
    /// Nothing was changed: the change contradicts itself or the task.
    case contradiction(TaskChange.Contradiction)
    /// Nothing was changed: the owner has no room for the task that comes next.
    case full
}

/// A change of one task among several that are made together.
package struct IdentifiedChange: Sendable, Equatable {
    package let id: Int64
    package var change: TaskChange
    /// The revision that the task must have; nil: any.
    ///
    /// No task has the revision 0, so 0 is a condition that is never met.
    package let expected: Int64?

    package init(id: Int64, change: TaskChange, expected: Int64? = nil) {
        self.id = id
        self.change = change
        self.expected = expected
    }
}

package enum ChangeAllOutcome: Sendable, Equatable {
    /// All changes were made, durably. The tasks are in the order of the changes and include those that did not differ.
    ///
    /// Tasks that do not fit in one answer are among the tasks after its ``TaskList/next``.
    case changed(TaskList)
    /// Nothing was changed: the owner has no tasks of these ids.
    case missing([Int64])
    /// Nothing was changed: all tasks exist, and those of these ids have another revision than expected.
    case conflict([Int64])
    /// Nothing was changed: the change of this number, from 1, contradicts itself or its task.
    case contradiction(number: Int, TaskChange.Contradiction)
    /// Nothing was changed: the tasks that come next would be more than the limit allows.
    case full
}

extension [IdentifiedChange] {
    /// The reason why no change is made, by the revisions of the existing tasks; nil if all changes can be made.
    package func refusal(atRevisions revisions: [Int64: Int64]) -> ChangeAllOutcome? {
        let missing = filter { revisions[$0.id] == nil }
        guard missing.isEmpty else { return .missing(missing.map(\.id)) }
        let conflicting = filter { $0.expected != nil && $0.expected != revisions[$0.id] }
        return conflicting.isEmpty ? nil : .conflict(conflicting.map(\.id))
    }
}
