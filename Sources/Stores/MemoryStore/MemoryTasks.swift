import Tasks

/// The tasks of one owner in memory, in the order of their ids.
struct MemoryTasks: Sendable {
    private struct Attempt: Sendable {
        let fingerprint: UInt64
        let item: TaskItem
        let time: Int64
    }

    private var items: [TaskItem] = []
    private var nextID: Int64 = 1
    private var attempts: [String: Attempt] = [:]
    /// Their keys, oldest first; a key that was used again after a day stands there twice.
    private var attemptOrder: ArraySlice<(id: Int64, key: String)> = []

    func list(_ query: TaskQuery, of owner: Owner, in memory: AnswerMemory) throws(StoreError) -> TaskList {
        let after = query.after ?? 0
        var page = TaskPage(of: owner, atMost: query.limit, in: memory)
        for item in items where item.id > after && (query.completed.map { $0 == item.completed } ?? true) {
            guard try page.append(item) else { break }
        }
        return page.list()
    }

    func find(_ id: Int64) -> TaskItem? {
        position(of: id).map { items[$0] }
    }

    mutating func add(
        attempt: IdempotencyKey?, at time: Int64, limit: Int, _ make: (_ id: Int64) -> TaskItem
    ) -> AddOutcome {
        if let attempt {
            forgetAttempts(at: time)
            if let earlier = attempts[attempt.key], time - earlier.time < IdempotencyKey.lifetime {
                return earlier.fingerprint == attempt.fingerprint ? .repeated(earlier.item) : .keyReused
            }
        }
        guard items.count < limit else { return .full }
        let item = make(nextID)
        nextID += 1
        items.append(item)
        if let attempt { remember(attempt, item, at: time) }
        return .added(item)
    }

    private mutating func remember(_ attempt: IdempotencyKey, _ item: TaskItem, at time: Int64) {
        attempts[attempt.key] = Attempt(fingerprint: attempt.fingerprint, item: item, time: time)
        attemptOrder.append((item.id, attempt.key))
    }

    /// Forgets the oldest keys, as far as they are too old or beyond the newest tasks.
    private mutating func forgetAttempts(at time: Int64) {
        while let oldest = attemptOrder.first {
            if let attempt = attempts[oldest.key], attempt.item.id == oldest.id {
                let isOld = time - attempt.time >= IdempotencyKey.lifetime
                guard isOld || oldest.id < nextID - IdempotencyKey.remembered else { return }
                attempts[oldest.key] = nil
            }
            attemptOrder.removeFirst()
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

    mutating func remove(_ id: Int64) -> Bool {
        guard let position = position(of: id) else { return false }
        items.remove(at: position)
        return true
    }

    mutating func removeAll(with text: TaskText) -> Int {
        let before = items.count
        items.removeAll { $0.text == text }
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
