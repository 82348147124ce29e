private import Synchronization
package import Tasks

/// Keeps tasks in memory, for tests and trials: all are lost when the program ends.
///
/// Every call finishes without suspending.
package final class MemoryTaskStore: TaskStore {
    private struct State {
        var owners: [Owner: MemoryTasks] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let answers: AnswerMemory

    /// A store without tasks, whose long lists lease their memory from `answers`.
    package init(answers: AnswerMemory = AnswerMemory()) {
        self.answers = answers
    }

    package func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
        try read(of: owner) { tasks throws(StoreError) in
            var page = TaskPage(of: owner, atMost: query.limit, in: answers)
            for item in tasks.items(selectedBy: query) {
                guard try page.append(item) else { break }
            }
            return page.list()
        }
    }

    package func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
        try read(of: owner) { $0.find(id) }
    }

    package func add(
        _ text: TaskText, completed: Bool, details: TaskDetails, at time: Int64, attempt: IdempotencyKey?, limit: Int,
        of owner: Owner
    ) async throws(StoreError) -> AddOutcome {
        try change(owner) {
            $0.add(
                AddTask(
                    owner: owner, text: text, completed: completed, details: details, time: time, key: attempt,
                    limit: limit))
        }
    }

    package func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome {
        let command = ChangeTask(owner: owner, id: id, change: change, expected: expected, time: time)
        return try self.change(owner) { $0.change(command) }
    }

    package func changeAll(
        _ changes: [IdentifiedChange], at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeAllOutcome {
        let command = ChangeTasks(owner: owner, changes: changes, time: time, answers: answers)
        return try change(owner) { $0.changeAll(command) }
    }

    package func remove(
        _ id: Int64, expected: Set<Int64>?, of owner: Owner
    ) async throws(StoreError) -> RemoveOutcome {
        try change(owner) { $0.remove(RemoveTask(owner: owner, id: id, expected: expected)) }
    }

    package func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int {
        try change(owner) { $0.removeAll(with: text) }
    }

    package func removeCompleted(of owner: Owner) async throws(StoreError) -> Int {
        try change(owner) { $0.removeCompleted() }
    }

    package func check() async throws(StoreError) {
        guard !state.withLock({ $0.isClosed }) else { throw .overloaded }
    }

    package func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Keeps nothing of an owner who has no tasks.
    private func read<Outcome: Sendable>(
        of owner: Owner, _ body: (MemoryTasks) throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome {
        try state.withLock { state throws(StoreError) in
            guard !state.isClosed else { throw .overloaded }
            return try body(state.owners[owner] ?? MemoryTasks())
        }
    }

    private func change<Outcome: Sendable>(
        _ owner: Owner, _ body: (inout MemoryTasks) -> Outcome
    ) throws(StoreError) -> Outcome {
        try state.withLock { state throws(StoreError) in
            guard !state.isClosed else { throw .overloaded }
            return body(&state.owners[owner, default: MemoryTasks()])
        }
    }
}
