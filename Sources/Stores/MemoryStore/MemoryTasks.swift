package import Tasks

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
