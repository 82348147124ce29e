/// A change of one owner's tasks, as a value that a store can queue, run and answer.
package protocol TaskCommand: Sendable {
    /// The outcome that the caller gets once the change is durable.
    associatedtype Outcome: Sendable
    var owner: Owner { get }
    /// When the caller's token was issued, in milliseconds since 1970, UTC; a caller without a token comes after all.
    var issued: Int64 { get set }
    /// How much of a transaction the command takes, in rows of tasks.
    var weight: Int { get }
    /// The memory that the command takes while it waits, besides that of every call, in bytes.
    var payload: Int { get }
    /// What the command reads, for a store that reads for several commands at once.
    var reads: CommandReads { get }
    /// Makes the change and decides its outcome; an error undoes the whole transaction.
    func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Outcome
    /// Makes the change, unless the caller's token is from before the deletion of the owner.
    func outcome<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Result<Outcome, StoreError>
}

extension TaskCommand {
    @inlinable package var weight: Int { 1 }
    @inlinable package var payload: Int { 0 }

    package func outcome<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Result<Outcome, StoreError> {
        if let row = try tasks.row(), row.wasDeleted(after: issued) { return .failure(.ownerDeleted) }
        return .success(try run(on: &tasks))
    }
}

package enum CommandReads: Sendable {
    /// The owner's row, which is made if there is none, and the record of an idempotency key.
    case row(key: String?)
    case tasks([Int64])
    /// The owner's row, which is made if there is none, tasks, and the records of idempotency keys.
    case rows(tasks: [Int64], keys: [String])
    case revision(Int64)
    case selection(RemoveTasks.Selection)
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
    package var issued = Int64.max
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

    package var payload: Int { text.value.utf8.count + details.bytes }
    package var reads: CommandReads { .row(key: key?.key) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> AddOutcome {
        let row = try tasks.row() ?? OwnerRow()
        if let key, let earlier = try tasks.record(of: key.key), earlier.isRemembered(at: time, next: row.next) {
            return earlier.outcome(for: key)
        }
        guard row.tasks < limit else { return .full }
        guard row.next.isTaskNumber else { throw Transaction.Failure(.lastID) }
        let item = item(row.next)
        try tasks.add(item, to: row)
        if let key {
            try tasks.put(IdempotencyRecord(key: key, item: item))
            let oldest = item.id + 1 - IdempotencyKey.remembered
            if oldest > 1 { try tasks.forgetRecords(ofTasksBefore: oldest) }
        }
        return .added(item)
    }
}

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
/// The answer has the tasks in the order of the changes, as many as fit in a page; the others are after its
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
            // A change that the task could refuse was looked at above.
            let changed = try? item.applying(change.change, at: time)
            if let changed { _ = try tasks.replace(item, with: changed) }
            let isShown = least == nil && (try? page.append(changed?.task ?? item)) == true
            if !isShown { least = min(least ?? item.id, item.id) }
        }
        let list = page.list()
        return .changed(least.map { list.followed(after: $0 - 1) } ?? list)
    }
}

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
        /// With lesser ids.
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

    /// How many tasks there are is not known before, so a removal counts as the most that it removes.
    package var weight: Int { Self.most }
    package var reads: CommandReads { .selection(selection) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Int {
        let ids = try tasks.ids(of: selection)
        try tasks.remove(ids, at: time)
        return ids.count
    }

    /// Runs the command again while there may be more tasks for it; returns the number of all.
    package func repeated(_ perform: (RemoveTasks) async throws(StoreError) -> Int) async throws(StoreError) -> Int {
        var total = 0
        while true {
            let count = try await perform(self)
            total += count
            guard count == Self.most else { return total }
        }
    }
}

/// Reads the owner's tasks of a selection, rendered as the API shows them.
///
/// A long list is cut at a number of bytes (``AnswerMemory/pageSize``), between two tasks; ``TaskList/next`` says so.
package struct ListTasks: Sendable, Hashable {
    package let owner: Owner
    package let selection: TaskQuery
    /// The place of a long list, if the caller has waited for one.
    package let place: AnswerPlace?
    package let names: TaskNames

    package init(
        owner: Owner, selection: TaskQuery = .all, at place: AnswerPlace? = nil, names: TaskNames = .both
    ) {
        (self.owner, self.selection, self.place, self.names) = (owner, selection, place, names)
    }
}

/// Reads the owner's task of an id; the outcome is nil if there is none.
package struct FindTask: Sendable {
    package let owner: Owner
    package let id: Int64

    package init(owner: Owner, id: Int64) {
        self.owner = owner
        self.id = id
    }
}

package struct TaskQuery: Sendable, Hashable {
    /// Only completed tasks, only open ones, or (nil) both.
    package var completed: Bool?
    /// At most this many; nil: as many as one answer may hold.
    package var limit: Int?
    /// Only those with a greater id.
    package var after: Int64?

    package init(completed: Bool? = nil, limit: Int? = nil, after: Int64? = nil) {
        self.completed = completed
        self.limit = limit
        self.after = after
    }

    package static let all = TaskQuery()
}
