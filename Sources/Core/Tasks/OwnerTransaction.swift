/// One owner's tasks in a transaction of a store, as a command reads and changes them.
///
/// A store implements these reads and writes, and knows nothing else of a command. Commands change tasks by ``add(_:to:)``,
/// ``replace(_:with:)`` and ``remove(_:)``, which also count the tasks and note the change.
package protocol OwnerTransaction: ~Copyable {
    associatedtype Failure: TransactionFailure

    /// The changes that commands have made of the owner's tasks.
    var change: OwnerChange { get set }
    /// The memory of the answers to lists of changes.
    var answers: AnswerMemory { get }

    /// The owner's row; nil if the owner has never had a task.
    mutating func row() throws(Failure) -> OwnerRow?
    mutating func task(_ id: Int64) throws(Failure) -> TaskItem?
    /// The revision of a task as it is stored, also if no task-server has written the task.
    mutating func revision(of id: Int64) throws(Failure) -> Int64?
    /// The ids of tasks of a selection, at most ``RemoveTasks/most`` of them.
    mutating func ids(of selection: RemoveTasks.Selection) throws(Failure) -> [Int64]
    /// The record of an idempotency key, also if it is not remembered any more.
    mutating func record(of key: String) throws(Failure) -> IdempotencyRecord?

    mutating func put(_ row: OwnerRow) throws(Failure)
    mutating func insert(_ item: TaskItem) throws(Failure)
    /// Writes a task; a store need not write what is the same as in `old`.
    mutating func update(_ old: TaskItem, to new: TaskItem) throws(Failure)
    /// Deletes tasks that exist.
    mutating func delete(_ ids: [Int64]) throws(Failure)
    /// Keeps a record, in place of an earlier one of the same key.
    mutating func put(_ record: IdempotencyRecord) throws(Failure)
    mutating func forgetRecords(ofTasksBefore id: Int64) throws(Failure)
}

/// An error of a store's transaction, after which nothing of the transaction is kept.
package protocol TransactionFailure: Error {
    init(_ value: ForeignValue)
}

/// An owner's row of the table `owners`, as it is stored.
package struct OwnerRow: Sendable, Equatable {
    /// The next id.
    package var next: Int64
    /// How many tasks the owner has.
    package var tasks: Int64

    package init(next: Int64 = 1, tasks: Int64 = 0) {
        (self.next, self.tasks) = (next, tasks)
    }
}

/// The tasks of an owner that a transaction has changed, by their ids.
package struct OwnerChange: Sendable, Equatable {
    package let owner: Owner
    /// The tasks that were added or changed, in the order of the changes.
    package var put: [Int64] = []
    package var removed: [Int64] = []
    /// The owner's last change number after them.
    package var number: Int64 = 0

    package init(of owner: Owner) { self.owner = owner }

    package var isEmpty: Bool { put.isEmpty && removed.isEmpty }
}

extension OwnerTransaction where Self: ~Copyable {
    /// Adds a task under the next id of the owner's row.
    mutating func add(_ item: TaskItem, to row: OwnerRow) throws(Failure) {
        try insert(item)
        try put(OwnerRow(next: item.id + 1, tasks: row.tasks &+ 1))
        change.put.append(item.id)
    }

    mutating func replace(_ old: TaskItem, with new: TaskItem) throws(Failure) {
        try update(old, to: new)
        change.put.append(new.id)
    }

    /// Removes tasks that exist.
    mutating func remove(_ ids: [Int64]) throws(Failure) {
        guard !ids.isEmpty else { return }
        try delete(ids)
        if var row = try row() {
            row.tasks &-= Int64(ids.count)
            try put(row)
        }
        change.removed += ids
    }
}

/// The record of an addition with an idempotency key, by which a retry does not add a second task.
package struct IdempotencyRecord: Sendable, Equatable {
    package let key: IdempotencyKey
    /// The task as it was added; since then it may have been changed or removed.
    package let item: TaskItem

    package init(key: IdempotencyKey, item: TaskItem) {
        self.key = key
        self.item = item
    }

    /// Whether the key is young enough at this time, in milliseconds since 1970, UTC.
    package func isLive(at time: Int64) -> Bool { item.created > time - IdempotencyKey.lifetime }

    /// Whether the key is still remembered, by the owner's next id.
    func isRemembered(at time: Int64, next: Int64) -> Bool {
        isLive(at: time) && item.id >= next &- IdempotencyKey.remembered
    }

    /// The outcome of an addition that repeats the key, for the same request or for another.
    package func outcome(for repeated: IdempotencyKey) -> AddOutcome {
        repeated.fingerprint == key.fingerprint ? .repeated(item) : .keyReused
    }
}
