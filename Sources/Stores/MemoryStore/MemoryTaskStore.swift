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

    package func perform(_ command: RemoveOwner) async throws(StoreError) {
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
            let outcome: Result<Command.Outcome, StoreError>
            do throws(ForeignValue) {
                outcome = try command.outcome(on: &tasks)
            } catch {
                throw .broken(reason: error.message)
            }
            return try outcome.get()
        }
    }
}

/// The tasks of one owner in memory, in the order of their ids.
struct MemoryTasks: OwnerTransaction {
    typealias Failure = ForeignValue

    private var items: [TaskItem] = []
    private var counts: OwnerRow?
    private var records: [String: IdempotencyRecord] = [:]
    var change: OwnerChange
    let answers: AnswerMemory

    init(of owner: Owner, answers: AnswerMemory) {
        change = OwnerChange(of: owner)
        self.answers = answers
    }

    /// The tasks of a query, without its limit.
    func items(selectedBy query: TaskQuery) -> some Sequence<TaskItem> {
        let after = query.after ?? 0
        return items.lazy.filter { $0.id > after && (query.completed == nil || query.completed == $0.completed) }
    }

    func row() -> OwnerRow? { counts }

    func task(_ id: Int64) -> TaskItem? { position(of: id).map { items[$0] } }

    func revision(of id: Int64) -> Int64? { task(id)?.revision }

    func ids(of selection: RemoveTasks.Selection) -> [Int64] {
        items.lazy.filter { selection.contains($0) }.prefix(RemoveTasks.most).map(\.id)
    }

    func record(of key: String) -> IdempotencyRecord? { records[key] }

    mutating func put(_ row: OwnerRow) { counts = row }

    mutating func mark(_ row: OwnerRow) { counts = row }

    mutating func insert(_ item: TaskItem) { items.append(item) }

    mutating func update(_ old: TaskItem, to new: TaskItem) {
        if let position = position(of: old.id) { items[position] = new }
    }

    mutating func delete(_ ids: [Int64]) {
        let gone = Set(ids)
        items.removeAll { gone.contains($0.id) }
    }

    mutating func put(_ record: IdempotencyRecord) { records[record.key.key] = record }

    mutating func forgetRecords(ofTasksBefore id: Int64) { records = records.filter { $0.value.item.id >= id } }

    private func position(of id: Int64) -> Int? { items.firstIndex { $0.id == id } }
}

extension ForeignValue: TransactionFailure {
    package init(_ value: ForeignValue) { self = value }
}
