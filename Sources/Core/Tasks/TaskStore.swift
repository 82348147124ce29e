/// Where tasks are kept. Obligations of every store, tested by the conformance suite (`Tests/StoresTests/Conformance`):
///
/// - Every call names its owner and sees nothing of any other.
/// - One call is one atomic change; a change that was answered survives `kill -9` and a power cut (the memory store
///   excepted, which says so).
/// - Ids count from 1 per owner and are never used again, also after a delete.
/// - Lists are ordered by id, which is the order of creation.
/// - A call may suspend; it never blocks the calling thread on a disk or a network.
package protocol TaskStore: Sendable {
    /// The owner's tasks, filtered, rendered as the API shows them.
    ///
    /// A long list is cut at a number of bytes (``AnswerMemory/pageSize``), between two tasks; ``TaskList/next`` says so.
    func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList

    /// Everything of an owner, as ``list(_:of:)`` would answer it, if it is cached; never waits.
    func cachedList(of owner: Owner) -> TaskList?

    /// The owner's task of this id, or nothing.
    func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem?

    /// Adds a task at a time in milliseconds since 1970, UTC.
    ///
    /// An `attempt` makes a retry safe: the same key of the same owner adds once and answers the same task again, for a
    /// day, and while at most ``IdempotencyKey/remembered`` tasks of the owner are as new or newer. What is beyond that is
    /// removed by the owner's next addition with a key; what is older than a day is removed soon in any case.
    /// An owner who has `limit` tasks already gets ``AddOutcome/full``.
    func add(
        _ text: TaskText, completed: Bool, at time: Int64, attempt: IdempotencyKey?, limit: Int, of owner: Owner
    ) async throws(StoreError) -> AddOutcome

    /// Changes a task, if its revision is among the expected ones (no condition where `expected` is nil).
    func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome

    /// Removes a task; true if there was one.
    func remove(_ id: Int64, of owner: Owner) async throws(StoreError) -> Bool

    /// Removes all the owner's tasks with exactly this text; the count of them.
    func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int

    /// Throws if the store cannot read and write now; asks the database itself.
    func check() async throws(StoreError)

    /// Ends the store: accepted calls are finished, later ones are refused. Blocks; not for an event loop.
    func close()
}

extension TaskStore {
    /// Nothing: a store without a cache reads every time.
    package func cachedList(of owner: Owner) -> TaskList? { nil }
}

/// Which of an owner's tasks.
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

/// A client's own name for one attempt to add, and a digest of what it asked for.
package struct IdempotencyKey: Sendable, Hashable {
    /// The value of `Idempotency-Key`: 1 to 255 printable ASCII characters.
    package let key: String
    /// Tells requests apart that reuse a key for something else.
    package let fingerprint: UInt64

    package init(key: String, fingerprint: UInt64) {
        self.key = key
        self.fingerprint = fingerprint
    }

    /// How long a key is remembered, in milliseconds: a day, if its task is among the owner's newest.
    package static let lifetime: Int64 = 86_400_000

    /// Of how many of an owner's newest tasks the keys are remembered, even if the tasks are removed.
    ///
    /// So a person's keys take a bounded space. A client repeats only the few requests that it has no answer to, far fewer
    /// than this.
    package static let remembered: Int64 = 1000
}

/// A change of a task; what is nil stays.
package struct TaskChange: Sendable, Equatable {
    package var text: TaskText?
    package var completed: Bool?

    package init(text: TaskText? = nil, completed: Bool? = nil) {
        self.text = text
        self.completed = completed
    }
}

/// The outcome of an addition.
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

/// The outcome of a change.
package enum ChangeOutcome: Sendable, Equatable {
    /// Changed, durably (also when nothing differed: then the task as it is, its revision unchanged).
    case changed(TaskItem)
    /// No such task under this owner.
    case missing
    /// The task has none of the expected revisions; here it is.
    case conflict(TaskItem)
}

/// Why a call of a store failed; nothing was changed, unless the case says otherwise.
package enum StoreError: Error, Sendable, Equatable {
    /// Too many calls wait already, or the store is closing: try again.
    case overloaded
    /// Too much memory is taken by long lists that are being made or sent, to this person or to all: try again.
    case noRoomForAnswer
    /// Out of reach (a lost connection, a locked file): try again.
    case unavailable(reason: String)
    /// No room on the disk.
    case full
    /// Anything else; the reason is for the log, and holds no text of a task.
    case broken(reason: String)
}
