import Basics

/// One owner's tasks in a transaction of a store, as a command reads and changes them.
///
/// A store implements these reads and writes, and knows nothing else of a command. Commands change tasks by
/// ``add(_:to:)``, ``replace(_:with:)`` and ``remove(_:at:)``, which also count the tasks, number the changes and note
/// them.
package protocol OwnerTransaction: ~Copyable {
    associatedtype Failure: TransactionFailure

    /// The changes that commands have made of the owner's tasks.
    var change: OwnerChange { get set }
    /// The memory of the answers to lists of changes.
    var answers: AnswerMemory { get }

    /// The owner's row; nil if the owner has never had a task.
    mutating func row() throws(Failure) -> OwnerRow?
    /// A task, or the reason why no task-server has written it.
    mutating func stored(_ id: Int64) throws(Failure) -> Result<TaskItem, ForeignValue>?
    /// The revision of a task as it is stored, also if no task-server has written the task.
    mutating func revision(of id: Int64) throws(Failure) -> Int64?
    /// The ids of tasks of a selection, at most ``RemoveTasks/most`` of them.
    mutating func ids(of selection: RemoveTasks.Selection) throws(Failure) -> [Int64]
    /// The record of an idempotency key, also if it is not remembered any more.
    mutating func record(of key: String) throws(Failure) -> IdempotencyRecord?

    /// Writes the counts of the owner's row.
    mutating func put(_ row: OwnerRow) throws(Failure)
    /// Writes the counts of the owner's row, and gives the list a new origin.
    mutating func renew(_ row: OwnerRow) throws(Failure)
    /// Writes the deletion of the owner's row, which there may not be yet, and gives the list a new origin.
    mutating func mark(_ row: OwnerRow) throws(Failure)
    /// Writes a new task with its change number.
    mutating func insert(_ item: TaskItem, change: Int64) throws(Failure)
    /// Writes a task with its change number; a store may leave out other values that are the same in `old`.
    mutating func update(_ old: TaskItem, to new: TaskItem, change: Int64) throws(Failure)
    /// Deletes tasks that exist, and keeps records of their removal for ``RemovedTask/changes`` changes.
    mutating func delete(_ tasks: [RemovedTask]) throws(Failure)
    /// Keeps a record, in place of an earlier one of the same key.
    mutating func put(_ record: IdempotencyRecord) throws(Failure)
    mutating func forgetRecords(ofTasksBefore id: Int64) throws(Failure)
    /// Forgets all but the newest ``IdempotencyKey/remembered`` records, if there is one of a task before this id.
    mutating func limitRecords(ifOfTasksBefore id: Int64) throws(Failure)
    /// Deletes the records of the owner's removed tasks.
    mutating func forgetRemovedTasks() throws(Failure)
}

/// An error of a store's transaction, after which nothing of the transaction is kept.
package protocol TransactionFailure: Error {
    init(_ value: ForeignValue)
}

/// An owner's row of the table `owners`, as it is stored.
package struct OwnerRow: Sendable, Equatable {
    /// The next id.
    package var next: Int64
    /// The number of the owner's tasks.
    package var tasks: Int64
    /// The last change number.
    package var change: Int64
    /// The time of the owner's last deletion, in milliseconds since 1970, UTC; nil if never within ``markLifetime``.
    package var deleted: Int64?
    /// `next` when the owner was deleted; lower ids belong to the deleted account.
    package var firstID: Int64 = 1

    /// The lifetime of a deleted owner's row, in milliseconds: 31 days, while a token lives for at most seven.
    package static let markLifetime: Int64 = 31 * 86_400_000

    package init(next: Int64 = 1, tasks: Int64 = 0, change: Int64 = 0) {
        (self.next, self.tasks, self.change) = (next, tasks, change)
    }

    /// Whether the owner was deleted after a token was issued, or in the same second.
    package func wasDeleted(after issued: Int64) -> Bool { deleted.map { $0 >= issued } ?? false }
}

/// The record of a removed task, by which clients who ask for changes learn of the removal.
package struct RemovedTask: Sendable, Equatable {
    package let id: Int64
    /// The change number of the removal.
    package let change: Int64
    /// Milliseconds since 1970, UTC.
    package let time: Int64

    package init(id: Int64, change: Int64, time: Int64) {
        (self.id, self.change, self.time) = (id, change, time)
    }

    /// The time for which removed tasks are known by default, in milliseconds: 30 days.
    package static let kept: Int64 = 30 * 86_400_000
    /// The number of an owner's newest changes among which removals are known, so that nobody fills the disk with them.
    ///
    /// By default a list has at most half as many tasks, so a client further behind better reads the whole list.
    package static let changes: Int64 = 20_000
}

/// The tasks of an owner that a transaction has changed, by their ids.
package struct OwnerChange: Sendable, Equatable {
    package let owner: Owner
    /// The tasks that were added or changed, in the order of the changes.
    package var put: [Int64] = []
    package var removed: [Int64] = []
    /// The owner's last change number after these changes.
    package var number: Int64 = 0

    package init(of owner: Owner) { self.owner = owner }

    package var isEmpty: Bool { put.isEmpty && removed.isEmpty }
}

extension OwnerTransaction where Self: ~Copyable {
    /// A task; throws also if no task-server has written it.
    mutating func task(_ id: Int64) throws(Failure) -> TaskItem? {
        let found = try stored(id)
        return try rethrowing(as: Failure.init) { () throws(ForeignValue) in try found?.get() }
    }

    /// Adds the task of a command under the next id of the owner's row, and returns the task.
    mutating func add(_ command: AddTask, to row: OwnerRow) throws(Failure) -> TaskItem {
        guard row.next.isTaskNumber else { throw Failure(.lastID) }
        let (item, number) = (command.item(row.next), row.change &+ 1)
        try insert(item, change: number)
        var row = row
        (row.next, row.tasks, row.change) = (item.id + 1, row.tasks &+ 1, number)
        try put(row)
        change.put.append(item.id)
        change.number = number
        return item
    }

    /// Replaces a task, and adds the task that comes next, if any; returns the id of the next task.
    mutating func replace(_ old: TaskItem, with changed: ChangedTask) throws(Failure) -> Int64? {
        try update(old, to: changed.task, change: try takeNumbers(1))
        change.put.append(old.id)
        guard let next = changed.next, let row = try row() else { return nil }
        return try add(next, to: row).id
    }

    /// Removes tasks that exist, at a time in milliseconds since 1970, UTC.
    mutating func remove(_ ids: [Int64], at time: Int64) throws(Failure) {
        guard !ids.isEmpty else { return }
        let first = try takeNumbers(Int64(ids.count), removed: Int64(ids.count))
        try delete(ids.enumerated().map { RemovedTask(id: $1, change: first &+ Int64($0), time: time) })
        change.removed += ids
    }

    /// Forgets the oldest records of an owner with this next id, if there may be too many.
    ///
    /// Ids alone do not tell, because a move or an import may give a thousand of them at once. So the records are
    /// counted, but only after some more additions, because counting takes as long as an addition.
    package mutating func limitRecords(next: Int64) throws(Failure) {
        let oldest = next - IdempotencyKey.remembered - IdempotencyKey.room
        if oldest > 1 { try limitRecords(ifOfTasksBefore: oldest) }
    }

    /// Takes the owner's next change numbers, and returns the first; 0 if the owner has no row, as no server leaves it.
    private mutating func takeNumbers(_ count: Int64, removed: Int64 = 0) throws(Failure) -> Int64 {
        guard var row = try row() else { return 0 }
        row.tasks &-= removed
        row.change &+= count
        try put(row)
        change.number = row.change
        return row.change &- count &+ 1
    }
}
