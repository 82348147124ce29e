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

    /// A store without tasks, whose long lists take their memory from this one.
    package init(answers: AnswerMemory = AnswerMemory()) {
        self.answers = answers
    }

    /// See ``TaskStore/list(_:of:)``.
    package func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
        try reading(of: owner) { tasks throws(StoreError) in try tasks.list(query, of: owner, in: answers) }
    }

    /// See ``TaskStore/find(_:of:)``.
    package func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
        try reading(of: owner) { $0.find(id) }
    }

    /// See ``TaskStore/add(_:completed:at:attempt:limit:of:)``.
    package func add(
        _ text: TaskText, completed: Bool, at time: Int64, attempt: IdempotencyKey?, limit: Int, of owner: Owner
    ) async throws(StoreError) -> AddOutcome {
        try withTasks(of: owner) { tasks in
            tasks.add(attempt: attempt, at: time, limit: limit) { id in
                TaskItem(id: id, owner: owner, text: text, completed: completed, created: time, modified: time)
            }
        }
    }

    /// See ``TaskStore/change(_:_:expected:at:of:)``.
    package func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome {
        try withTasks(of: owner) { $0.change(id, change, expected: expected, at: time) }
    }

    /// See ``TaskStore/remove(_:of:)``.
    package func remove(_ id: Int64, of owner: Owner) async throws(StoreError) -> Bool {
        try withTasks(of: owner) { $0.remove(id) }
    }

    /// See ``TaskStore/removeAll(with:of:)``.
    package func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int {
        try withTasks(of: owner) { $0.removeAll(with: text) }
    }

    /// See ``TaskStore/check()``.
    package func check() async throws(StoreError) {
        guard !state.withLock({ $0.isClosed }) else { throw .overloaded }
    }

    /// See ``TaskStore/close()``.
    package func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Keeps nothing of an owner who has nothing.
    private func reading<Outcome: Sendable>(
        of owner: Owner, _ body: (MemoryTasks) throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome {
        try state.withLock { state throws(StoreError) in
            guard !state.isClosed else { throw .overloaded }
            return try body(state.owners[owner] ?? MemoryTasks())
        }
    }

    private func withTasks<Outcome: Sendable>(
        of owner: Owner, _ body: (inout MemoryTasks) throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome {
        try state.withLock { state throws(StoreError) in
            guard !state.isClosed else { throw .overloaded }
            return try body(&state.owners[owner, default: MemoryTasks()])
        }
    }
}
