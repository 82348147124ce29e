import Tasks

/// The tasks of one owner in memory, in the order of their ids.
struct MemoryTasks: Sendable {
    private var items: [TaskItem] = []
    private var nextID: Int64 = 1
    private var records: [String: IdempotencyRecord] = [:]
    /// Their keys, oldest first; a key that was used again after it expired is in it twice.
    private var keys: ArraySlice<(id: Int64, key: String)> = []

    var isEmpty: Bool { items.isEmpty }

    /// The tasks of a query, without its limit.
    func items(selectedBy query: TaskQuery) -> some Sequence<TaskItem> {
        let after = query.after ?? 0
        return items.lazy.filter { $0.id > after && (query.completed == nil || query.completed == $0.completed) }
    }

    func find(_ id: Int64) -> TaskItem? {
        position(of: id).map { items[$0] }
    }

    mutating func add(_ command: AddTask) -> AddOutcome {
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

    mutating func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64
    ) -> ChangeOutcome {
        guard let position = position(of: id) else { return .missing }
        guard expected?.contains(items[position].revision) ?? true else { return .conflict(items[position]) }
        if let changed = items[position].applying(change, at: time) { items[position] = changed }
        return .changed(items[position])
    }

    mutating func changeAll(_ changes: [IdentifiedChange], at time: Int64) -> ChangeAllOutcome {
        let found = changes.compactMap { find($0.id) }
        let revisions = Dictionary(found.map { ($0.id, $0.revision) }) { first, _ in first }
        if let refusal = changes.refusal(atRevisions: revisions) { return refusal }
        return .changed(
            changes.compactMap { change in
                guard let position = position(of: change.id) else { return nil }
                if let changed = items[position].applying(change.change, at: time) { items[position] = changed }
                return items[position]
            })
    }

    mutating func remove(_ id: Int64) -> Bool {
        guard let position = position(of: id) else { return false }
        items.remove(at: position)
        return true
    }

    mutating func removeAll(with text: TaskText) -> Int {
        removeAll(where: { $0.text == text })
    }

    mutating func removeCompleted() -> Int {
        removeAll(where: \.completed)
    }

    private mutating func removeAll(where isGone: (TaskItem) -> Bool) -> Int {
        let before = items.count
        items.removeAll(where: isGone)
        return before - items.count
    }

    private func position(of id: Int64) -> Int? {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < items.count && items[low].id == id ? low : nil
    }
}
