import Basics
import Synchronization
import Tasks

/// Keeps tasks in memory: the model to which the conformance suite compares the stores, and the store of other tests.
package final class MemoryTaskStore: CommandStore {
    private struct State {
        var owners: [Owner: MemoryTasks] = [:]
        var isClosed = false
    }

    package let commits = CommitListeners()
    private let state = Mutex(State())
    private let answers: AnswerMemory
    private let removedTasksKept: Int64

    /// A store without tasks, whose long lists take their places in `answers`.
    ///
    /// Removed tasks are forgotten with the first removal that is so many milliseconds later.
    package init(answers: AnswerMemory = AnswerMemory(), removedTasksKept: Int64 = RemovedTask.kept) {
        self.answers = answers
        self.removedTasksKept = removedTasksKept
    }

    package func read(_ query: ListTasks, _ answer: @escaping StoreAnswer<TaskList>) -> Cancellation {
        read(of: query.owner, answer) { tasks throws(StoreError) in
            var page = TaskPage(of: query.owner, atMost: query.selection.limit, in: answers, at: query.place)
            for item in tasks.items(selectedBy: query.selection) {
                guard try page.append(item) else { break }
            }
            return page.list()
        }
    }

    package func read(_ query: FindTask, _ answer: @escaping StoreAnswer<TaskItem?>) -> Cancellation {
        read(of: query.owner, answer) { $0.task(query.id) }
    }

    package func read(_ query: ListChanges, _ answer: @escaping StoreAnswer<ChangesOutcome>) -> Cancellation {
        read(of: query.owner, answer) { tasks throws(StoreError) in
            guard var rendering = ChangesRendering(query, at: tasks.counts, in: answers) else { return .forgotten }
            tasks.append(query.rows, to: &rendering)
            return try rendering.outcome().get()
        }
    }

    package func changeNumbers(of owners: [Owner]) async throws(StoreError) -> [Owner: Int64] {
        state.withLock { state in
            let numbers = owners.compactMap { owner in state.owners[owner]?.row().map { (owner, $0.change) } }
            return Dictionary(numbers) { number, _ in number }
        }
    }

    package func check() async throws(StoreError) {
        guard !state.withLock({ $0.isClosed }) else { throw .overloaded }
    }

    package func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Reads tasks of an owner, and makes no entry for an owner who has none.
    private func read<Outcome: Sendable>(
        of owner: Owner, _ answer: @escaping StoreAnswer<Outcome>, _ body: (MemoryTasks) throws(StoreError) -> Outcome
    ) -> Cancellation {
        answer(
            Result { () throws(StoreError) in
                try state.withLock { state throws(StoreError) in
                    guard !state.isClosed else { throw .overloaded }
                    return try body(state.owners[owner] ?? MemoryTasks(of: owner, answers: answers, removedTasksKept))
                }
            })
        return {}
    }

    package func run<Command: TaskCommand>(
        _ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>
    ) -> Cancellation {
        answer(Result { () throws(StoreError) in try outcome(of: command) })
        return {}
    }

    private func outcome<Command: TaskCommand>(of command: Command) throws(StoreError) -> Command.Outcome {
        let (outcome, change) = try state.withLock { state throws(StoreError) in
            guard !state.isClosed else { throw .overloaded }
            var tasks =
                state.owners[command.owner] ?? MemoryTasks(of: command.owner, answers: answers, removedTasksKept)
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
            return (try outcome.get(), tasks.change)
        }
        if !change.isEmpty { commits.tell(of: [change]) }
        return outcome
    }
}

/// The tasks of one owner in memory, in the order of their ids.
struct MemoryTasks: OwnerTransaction {
    typealias Failure = ForeignValue

    private var items: [TaskItem] = []
    private var owner: OwnerRow?
    private var records: [String: IdempotencyRecord] = [:]
    /// The change numbers of the tasks.
    private var numbers: [Int64: Int64] = [:]
    private var removed: [RemovedTask] = []
    private var origin = Int64.random(in: 2...Int64.greatestTaskNumber)
    private var forgotten: Int64 = 0
    private let removedTasksKept: Int64
    var change: OwnerChange
    let answers: AnswerMemory

    init(of owner: Owner, answers: AnswerMemory, _ removedTasksKept: Int64) {
        change = OwnerChange(of: owner)
        self.answers = answers
        self.removedTasksKept = removedTasksKept
    }

    var counts: ChangeCounts? {
        owner.map { ChangeCounts(origin: origin, last: $0.change, forgotten: forgotten) }
    }

    /// Appends rows until the page is full.
    func append(_ rows: ListChanges.Rows, to rendering: inout ChangesRendering) {
        switch rows {
        case .tasks(let id):
            for item in items where item.id > id {
                guard rendering.append(item, at: item.id) else { return }
            }
        case .changes(let number):
            let changed = items.map { (number: numbers[$0.id] ?? 0, id: $0.id, item: Optional($0)) }
            let gone = removed.map { (number: $0.change, id: $0.id, item: TaskItem?.none) }
            for row in (changed + gone).filter({ $0.number > number }).sorted(by: { $0.number < $1.number }) {
                let hadRoom =
                    row.item.map { rendering.append($0, at: row.number) }
                    ?? rendering.append(removed: row.id, at: row.number)
                guard hadRoom else { return }
            }
        }
    }

    /// The tasks of a query, without its limit.
    func items(selectedBy query: TaskQuery) -> some Sequence<TaskItem> {
        let after = query.after ?? 0
        return items.lazy.filter { $0.id > after && (query.completed == nil || query.completed == $0.completed) }
    }

    func row() -> OwnerRow? { owner }

    func task(_ id: Int64) -> TaskItem? { position(of: id).map { items[$0] } }

    func stored(_ id: Int64) -> Result<TaskItem, ForeignValue>? { task(id).map { .success($0) } }

    func revision(of id: Int64) -> Int64? { task(id)?.revision }

    func ids(of selection: RemoveTasks.Selection) -> [Int64] {
        items.lazy.filter { selection.contains($0) }.prefix(RemoveTasks.most).map(\.id)
    }

    func record(of key: String) -> IdempotencyRecord? { records[key] }

    mutating func put(_ row: OwnerRow) { owner = row }

    mutating func mark(_ row: OwnerRow) { renew(row) }

    mutating func renew(_ row: OwnerRow) {
        owner = row
        origin = Int64.random(in: 2...Int64.greatestTaskNumber)
    }

    mutating func insert(_ item: TaskItem, change: Int64) {
        items.append(item)
        numbers[item.id] = change
    }

    mutating func update(_ old: TaskItem, to new: TaskItem, change: Int64) {
        if let position = position(of: old.id) { items[position] = new }
        numbers[new.id] = change
    }

    mutating func delete(_ tasks: [RemovedTask]) {
        let gone = Set(tasks.map(\.id))
        items.removeAll { gone.contains($0.id) }
        for id in gone { numbers[id] = nil }
        removed += tasks
        let limit = (tasks.last?.time ?? 0) - removedTasksKept
        forgotten = removed.reduce(forgotten) { $1.time <= limit ? max($0, $1.change) : $0 }
        removed.removeAll { $0.time <= limit || $0.change <= (tasks.last?.change ?? 0) - RemovedTask.changes }
    }

    mutating func forgetRemovedTasks() { removed = [] }

    mutating func put(_ record: IdempotencyRecord) { records[record.key.key] = record }

    mutating func forgetRecords(ofTasksBefore id: Int64) { records = records.filter { $0.value.item.id >= id } }

    mutating func limitRecords(ifOfTasksBefore id: Int64) {
        let ids = records.values.map(\.item.id).sorted(by: >)
        guard let last = ids.last, last < id, ids.count > IdempotencyKey.remembered else { return }
        forgetRecords(ofTasksBefore: ids[Int(IdempotencyKey.remembered) - 1])
    }

    private func position(of id: Int64) -> Int? { items.firstIndex { $0.id == id } }
}

extension ForeignValue: TransactionFailure {
    package init(_ value: ForeignValue) { self = value }
}
