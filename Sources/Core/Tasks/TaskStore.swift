package import Basics

/// A store of tasks. The conformance suite (`Tests/StoresTests/Conformance`) shows that every store keeps these rules:
///
/// - Every command and query names its owner, and sees nothing of any other owner.
/// - A command is one atomic change. Only a removal of many tasks may take several; a failure may leave some tasks.
/// - A command of a caller whose token is from before the deletion of the owner (``RemoveOwner``) changes nothing.
/// - A change that was answered survives `kill -9` and a power cut.
/// - Ids count from 1 per owner and are never reused, not even after a delete.
/// - Lists are ordered by id, which is the order of creation.
/// - Each task that is added, changed or removed takes the owner's next change number, in the same transaction.
/// - A call never blocks the calling thread on a disk or a network. A call that is given up before it began is answered
///   ``StoreError/withdrawn``, and does nothing. A removal of many tasks goes on once it began.
///
/// Each command and query says what it does.
package protocol TaskStore: Sendable {
    func read(_ query: ListTasks, _ answer: @escaping StoreAnswer<TaskList>) -> Cancellation

    func read(_ query: FindTask, _ answer: @escaping StoreAnswer<TaskItem?>) -> Cancellation

    func read(_ query: ListChanges, _ answer: @escaping StoreAnswer<ChangesOutcome>) -> Cancellation

    /// The last change number of each of these owners; owners who never had a task are left out.
    func changeNumbers(of owners: [Owner]) async throws(StoreError) -> [Owner: Int64]

    /// The listeners who are told of each commit of this store.
    var commits: CommitListeners { get }

    /// All of an owner's tasks, as ``ListTasks`` would read them, if they are cached. It never waits.
    func cachedList(of owner: Owner, _ names: TaskNames) -> TaskList?

    func perform(_ command: AddTask, _ answer: @escaping StoreAnswer<AddOutcome>) -> Cancellation

    func perform(_ command: ChangeTask, _ answer: @escaping StoreAnswer<ChangeOutcome>) -> Cancellation

    func perform(_ command: ChangeTasks, _ answer: @escaping StoreAnswer<ChangeAllOutcome>) -> Cancellation

    func perform(_ command: RemoveTask, _ answer: @escaping StoreAnswer<RemoveOutcome>) -> Cancellation

    func perform(_ command: RemoveTasks, _ answer: @escaping StoreAnswer<Int>) -> Cancellation

    func perform(_ command: RemoveOwner, _ answer: @escaping StoreAnswer<Void>) -> Cancellation

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
    func run<Command: TaskCommand>(_ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>) -> Cancellation
}

extension CommandStore {
    @inlinable package func perform(_ command: AddTask, _ answer: @escaping StoreAnswer<AddOutcome>) -> Cancellation {
        run(command, answer)
    }

    @inlinable package func perform(
        _ command: ChangeTask, _ answer: @escaping StoreAnswer<ChangeOutcome>
    ) -> Cancellation {
        run(command, answer)
    }

    @inlinable package func perform(
        _ command: ChangeTasks, _ answer: @escaping StoreAnswer<ChangeAllOutcome>
    ) -> Cancellation {
        run(command, answer)
    }

    @inlinable package func perform(
        _ command: RemoveTask, _ answer: @escaping StoreAnswer<RemoveOutcome>
    ) -> Cancellation {
        run(command, answer)
    }

    /// Runs the command again while there may be more tasks for it; the answer is the number of all.
    package func perform(_ command: RemoveTasks, _ answer: @escaping StoreAnswer<Int>) -> Cancellation {
        remove(command, after: 0, answer)
    }

    private func remove(
        _ command: RemoveTasks, after count: Int, _ answer: @escaping StoreAnswer<Int>
    ) -> Cancellation {
        run(command) { [self] result in
            guard case .success(RemoveTasks.most) = result else { return answer(result.map { count + $0 }) }
            _ = remove(command, after: count + RemoveTasks.most, answer)
        }
    }

    /// Runs the command again while there may be more to remove.
    package func perform(_ command: RemoveOwner, _ answer: @escaping StoreAnswer<Void>) -> Cancellation {
        run(command) { [self] result in
            guard case .success(true) = result else { return answer(result.map { _ in }) }
            _ = perform(command, answer)
        }
    }
}
