private import Synchronization
package import Tasks

/// Keeps tasks in memory, for tests and trials: all are lost when the program ends.
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

    package func read(_ query: ListTasks) async throws(StoreError) -> TaskList {
        try read(of: query.owner) { tasks throws(StoreError) in
            var page = TaskPage(of: query.owner, atMost: query.selection.limit, in: answers)
            for item in tasks.items(selectedBy: query.selection) {
                guard try page.append(item) else { break }
            }
            return page.list()
        }
    }

    package func read(_ query: FindTask) async throws(StoreError) -> TaskItem? {
        try read(of: query.owner) { $0.find(query.id) }
    }

    package func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome {
        try change(command.owner) { $0.perform(command) }
    }

    package func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome {
        try change(command.owner) { $0.perform(command) }
    }

    package func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome {
        try change(command.owner) { $0.perform(command, answers) }
    }

    package func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome {
        try change(command.owner) { $0.perform(command) }
    }

    package func perform(_ command: RemoveTasks) async throws(StoreError) -> Int {
        try change(command.owner) { $0.perform(command) }
    }

    package func check() async throws(StoreError) {
        guard !state.withLock({ $0.isClosed }) else { throw .overloaded }
    }

    package func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Reads tasks of an owner, and makes no entry for an owner who has none.
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
