import Tasks

/// The tasks of one owner in memory, in the order of their ids.
struct MemoryTasks: Sendable {
    private var items: [TaskItem] = []
    private var nextID: Int64 = 1
    private var records: [String: IdempotencyRecord] = [:]
    /// The keys of the records, oldest first; one that was used again after it expired stands here twice.
    private var keys: ArraySlice<(id: Int64, key: String)> = []

    /// The tasks of a query, without its limit.
    func items(selectedBy query: TaskQuery) -> some Sequence<TaskItem> {
        let after = query.after ?? 0
        return items.lazy.filter { $0.id > after && (query.completed == nil || query.completed == $0.completed) }
    }

    func find(_ id: Int64) -> TaskItem? {
        position(of: id).map { items[$0] }
    }

    mutating func perform(_ command: AddTask) -> AddOutcome {
        if let key = command.key {
            forgetKeys(at: command.time)
            if let earlier = records[key.key], earlier.isLive(at: command.time) { return earlier.outcome(for: key) }
        }
        guard items.count < command.limit else { return .full }
        let item = command.item(nextID)
        nextID += 1
        items.append(item)
        if let key = command.key {
            records[key.key] = IdempotencyRecord(key: key, item: item)
            keys.append((item.id, key.key))
        }
        return .added(item)
    }

    /// Forgets the oldest keys, as far as they are expired or their tasks are not among the newest.
    private mutating func forgetKeys(at time: Int64) {
        while let oldest = keys.first {
            if let record = records[oldest.key], record.item.id == oldest.id {
                let isNew = oldest.id >= nextID - IdempotencyKey.remembered
                guard !isNew || !record.isLive(at: time) else { return }
                records[oldest.key] = nil
            }
            keys.removeFirst()
        }
    }

    mutating func perform(_ command: ChangeTask) -> ChangeOutcome {
        let outcome = command.outcome(for: find(command.id))
        if case .changed(let item) = outcome { replace(item) }
        return outcome
    }

    /// The answer takes its memory from `answers`.
    mutating func perform(_ command: ChangeTasks, _ answers: AnswerMemory) -> ChangeAllOutcome {
        let (outcome, tasks) = command.outcome(for: command.changes.compactMap { find($0.id) }, in: answers)
        tasks.forEach { replace($0) }
        return outcome
    }

    private mutating func replace(_ item: TaskItem) {
        if let position = position(of: item.id) { items[position] = item }
    }

    mutating func perform(_ command: RemoveTask) -> RemoveOutcome {
        let outcome = command.outcome(for: find(command.id))
        if outcome == .removed, let position = position(of: command.id) { items.remove(at: position) }
        return outcome
    }

    mutating func perform(_ command: RemoveTasks) -> Int {
        let before = items.count
        switch command.selection {
        case .withText(let text): items.removeAll { $0.text == text }
        case .completed: items.removeAll(where: \.completed)
        }
        return before - items.count
    }

    private func position(of id: Int64) -> Int? { items.firstIndex { $0.id == id } }
}
