/// A store of tasks. Obligations of every store, proven by the conformance suite (`Tests/StoresTests/Conformance`):
///
/// - Every call names its owner and sees nothing of any other.
/// - One call is one atomic change; a change that was answered survives `kill -9` and a power cut (the memory store
///   excepted, which says so).
/// - Ids count from 1 per owner and are never reused, not even after a delete.
/// - Lists are ordered by id, which is the order of creation.
/// - A call may suspend; it never blocks the calling thread on a disk or a network.
package protocol TaskStore: Sendable {
    /// The owner's tasks, filtered, rendered as the API shows them.
    ///
    /// A long list is cut at a number of bytes (``AnswerMemory/pageSize``), between two tasks; ``TaskList/next`` says so.
    func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList

    /// All of an owner's tasks, as ``list(_:of:)`` would answer them, if they are cached: never waits.
    func cachedList(of owner: Owner) -> TaskList?

    /// The owner's task of this id, or nothing.
    func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem?

    /// Adds a task at a time in milliseconds since 1970, UTC.
    ///
    /// An `attempt` makes a retry safe: the same key of the same owner adds once and answers the same task again, for a
    /// day, and while at most ``IdempotencyKey/remembered`` tasks of the owner are as new or newer. Keys beyond that
    /// are removed by the owner's next addition with a key; keys older than a day are removed soon, without one.
    /// An owner who has `limit` tasks already gets ``AddOutcome/full``.
    func add(
        _ text: TaskText, completed: Bool, details: TaskDetails, at time: Int64, attempt: IdempotencyKey?, limit: Int,
        of owner: Owner
    ) async throws(StoreError) -> AddOutcome

    /// Changes a task, if its revision is among the expected ones (no condition where `expected` is nil).
    func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome

    /// Makes changes of several tasks, each named once: all of them or none. Never fails for lack of room for the answer.
    func changeAll(
        _ changes: [IdentifiedChange], at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeAllOutcome

    /// Removes a task, if its revision is among the expected ones (no condition where `expected` is nil).
    func remove(_ id: Int64, expected: Set<Int64>?, of owner: Owner) async throws(StoreError) -> RemoveOutcome

    /// Removes all the owner's tasks with exactly this text; the count of them.
    func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int

    /// Removes all the owner's completed tasks; the count of them.
    func removeCompleted(of owner: Owner) async throws(StoreError) -> Int

    /// Whether the store can answer now; uses the disk or the network.
    func check() async throws(StoreError)

    /// Ends the store: accepted calls are finished, later ones are refused. Blocks; not for an event loop.
    func close()
}

extension TaskStore {
    /// Nothing: a store without cached lists reads every time.
    package func cachedList(of owner: Owner) -> TaskList? { nil }
}

/// A selection of an owner's tasks.
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

/// A client's key for one addition, and a digest of the request.
package struct IdempotencyKey: Sendable, Hashable {
    /// The value of `Idempotency-Key`: 1 to 255 printable ASCII characters.
    package let key: String
    /// A digest of the request, to detect a key that is reused for another one.
    package let fingerprint: UInt64

    package init(key: String, fingerprint: UInt64) {
        self.key = key
        self.fingerprint = fingerprint
    }

    /// Whether a text has the form of a ``key``.
    package static func isKey(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// How long a key is remembered, in milliseconds: a day, if its task is among the owner's newest.
    package static let lifetime: Int64 = 86_400_000

    /// The number of an owner's newest tasks whose keys are remembered, even if the tasks are removed.
    ///
    /// So an owner's keys take a bounded space. A client repeats only the few requests without an answer, so it stays far
    /// below the bound.
    package static let remembered: Int64 = 1000
}

/// A change of a task; what is nil stays.
package struct TaskChange: Sendable, Equatable {
    package var text: TaskText?
    package var completed: Bool?
    package var details: TaskDetailsChange

    package init(
        text: TaskText? = nil, completed: Bool? = nil, details: TaskDetailsChange = TaskDetailsChange()
    ) {
        self.text = text
        self.completed = completed
        self.details = details
    }
}

package enum AddOutcome: Sendable, Equatable {
    /// Added, durably.
    case added(TaskItem)
    /// The key was used before for the same request: the task as it was added then, nothing was added now.
    case repeated(TaskItem)
    /// The key was used before for another request.
    case keyReused
    /// The owner has as many tasks as the limit allows.
    case full
}

package enum ChangeOutcome: Sendable, Equatable {
    /// Changed, durably (also when nothing differed: then the task as it is, its revision unchanged).
    case changed(TaskItem)
    /// No such task under this owner.
    case missing
    /// The task exists, but has none of the expected revisions.
    case conflict(TaskItem)
}

package enum RemoveOutcome: Sendable, Equatable {
    /// Removed, durably.
    case removed
    /// No such task under this owner.
    case missing
    /// The task exists, but has none of the expected revisions.
    case conflict
}

/// Why a call failed; nothing was changed, unless the case says otherwise.
package enum StoreError: Error, Sendable, Equatable {
    /// The queue is full, or the store is closing: try again.
    case overloaded
    /// Long lists that are being made or sent take so much memory that this many bytes have no room, for this owner or
    /// for all: try again.
    case noRoomForAnswer(bytes: Int)
    /// Out of reach (a lost connection, a locked file): try again.
    ///
    /// A change may have been made, if the connection was lost before its commit was confirmed.
    case unavailable(reason: String)
    /// No room on the disk.
    case full
    /// Anything else; the reason is for the log, and holds no text of a task.
    ///
    /// A change may have been made: in PostgreSQL a row that no task-server wrote is noticed when its transaction commits.
    case broken(reason: String)
}
