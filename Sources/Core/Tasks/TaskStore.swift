/// A store of tasks. The conformance suite (`Tests/StoresTests/Conformance`) shows that every store keeps these rules:
///
/// - Every command and query names its owner, and sees nothing of any other owner.
/// - A command is one atomic change. Only a removal of many tasks may take several; a failure may leave some tasks.
/// - A command of a caller whose token is from before the deletion of the owner (``RemoveOwner``) changes nothing.
/// - A change that was answered survives `kill -9` and a power cut.
/// - Ids count from 1 per owner and are never reused, not even after a delete.
/// - Lists are ordered by id, which is the order of creation.
/// - Each task that is added, changed or removed takes the owner's next change number, in the same transaction.
/// - A call may suspend; it never blocks the calling thread on a disk or a network.
///
/// Each command and query (`TaskCommand.swift`) says what it does.
package protocol TaskStore: Sendable {
    func read(_ query: ListTasks) async throws(StoreError) -> TaskList

    func read(_ query: FindTask) async throws(StoreError) -> TaskItem?

    func read(_ query: ListChanges) async throws(StoreError) -> ChangesOutcome

    /// The last change number of each of these owners; owners who never had a task are left out.
    func changeNumbers(of owners: [Owner]) async throws(StoreError) -> [Owner: Int64]

    /// Those who are told after each commit of this store.
    var commits: CommitListeners { get }

    /// All of an owner's tasks, as ``ListTasks`` would read them, if they are cached. It never waits.
    func cachedList(of owner: Owner, _ names: TaskNames) -> TaskList?

    func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome

    func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome

    func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome

    func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome

    func perform(_ command: RemoveTasks) async throws(StoreError) -> Int

    func perform(_ command: RemoveOwner) async throws(StoreError)

    /// Whether the store can answer now. The check uses the disk or the network.
    func check() async throws(StoreError)

    /// Ends the store: finishes accepted calls, and refuses later ones. It blocks, so no event loop may call it.
    func close()
}

extension TaskStore {
    /// Returns nil: a store without cached lists reads every time.
    package func cachedList(of owner: Owner, _ names: TaskNames) -> TaskList? { nil }
}

/// A store that runs all commands in the same way.
package protocol CommandStore: TaskStore {
    func run<Command: TaskCommand>(_ command: Command) async throws(StoreError) -> Command.Outcome
}

extension CommandStore {
    @inlinable package func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome {
        try await run(command)
    }

    @inlinable package func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome {
        try await run(command)
    }

    @inlinable package func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome {
        try await run(command)
    }

    @inlinable package func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome {
        try await run(command)
    }

    package func perform(_ command: RemoveTasks) async throws(StoreError) -> Int {
        try await command.repeated { command throws(StoreError) in try await run(command) }
    }

    package func perform(_ command: RemoveOwner) async throws(StoreError) {
        try await command.repeated { command throws(StoreError) in try await run(command) }
    }
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
    /// A client repeats only the few requests without an answer, so it stays far below this bound.
    package static let remembered: Int64 = 1000
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
    /// The caller has left before the work began; nobody gets the answer.
    case withdrawn
    /// The owner's long answers, or those of all, take all places: try again.
    case noRoomForAnswer
    /// The database is out of reach (a lost connection, a locked file): try again.
    ///
    /// A change may have been made, if the connection was lost before its commit was confirmed.
    case unavailable(reason: String)
    /// The disk is full.
    case full
    /// The owner was deleted after the caller's token was issued.
    case ownerDeleted
    /// Any other failure. The reason is for the log, and holds no text of a task.
    case broken(reason: String)
}

/// The suspended caller of a store, to be answered exactly once.
///
/// The continuation is unchecked, because the checked one costs an allocation and a lock at each call. Every path of
/// the store's threads ends in one answer; the conformance suite waits for each.
@safe
package struct Reply<Outcome: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Result<Outcome, StoreError>, Never>

    private init(_ continuation: UnsafeContinuation<Result<Outcome, StoreError>, Never>) {
        unsafe self.continuation = unsafe continuation
    }

    /// Suspends the caller until the reply is answered; `leave` is called if the caller's task is cancelled meanwhile.
    package static func awaiting(
        _ start: (Reply<Outcome>) -> Void, onCancel leave: @Sendable () -> Void
    ) async throws(StoreError) -> Outcome {
        let result = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                unsafe start(Reply(continuation))
            }
        } onCancel: {
            leave()
        }
        return try result.get()
    }

    /// Resumes the caller on its executor.
    package func answer(_ result: Result<Outcome, StoreError>) {
        unsafe continuation.resume(returning: result)
    }
}
