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
        try read(of: query.owner) { $0.task(query.id) }
    }

    package func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome { try run(command) }

    package func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome { try run(command) }

    package func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome { try run(command) }

    package func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome { try run(command) }

    package func perform(_ command: RemoveTasks) async throws(StoreError) -> Int {
        try await command.repeated { command throws(StoreError) in try run(command) }
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
            return try body(state.owners[owner] ?? MemoryTasks(of: owner, answers: answers))
        }
    }

    private func run<Command: TaskCommand>(_ command: Command) throws(StoreError) -> Command.Outcome {
        try state.withLock { state throws(StoreError) in
            guard !state.isClosed else { throw .overloaded }
            var tasks = state.owners[command.owner] ?? MemoryTasks(of: command.owner, answers: answers)
            // The dictionary gives its copy up, so that a change copies nothing.
            state.owners[command.owner] = nil
            defer { if tasks.row() != nil { state.owners[command.owner] = tasks } }
            tasks.change = OwnerChange(of: command.owner)
            do throws(ForeignValue) {
                return try command.run(on: &tasks)
            } catch {
                throw .broken(reason: error.message)
            }
        }
    }
}
