import Tasks

/// Reads that wait for a session, equal ones as one.
struct ReadQueue {
    private struct Key: Hashable {
        let statement: Statement
        let outcome: ObjectIdentifier
        let limit: Int?

        init(_ read: any QueuedRead) {
            statement = read.statement
            outcome = read.outcome
            limit = read.limit
        }
    }

    /// In the order in which they came.
    private var order: [Key] = []
    /// Those that were not sent yet: others may join them.
    private var waiting: [Key: any QueuedRead] = [:]
    /// Those that were sent without success, and those that follow another; they go first, and are not joined.
    private var returned: [any QueuedRead] = []

    var isEmpty: Bool { order.isEmpty && returned.isEmpty }

    /// Lets a read wait from a monotonic time on.
    mutating func append(_ read: any QueuedRead, since now: UInt64) {
        let key = Key(read)
        guard waiting[key] == nil else {
            waiting[key]?.join(read)
            return
        }
        var read = read
        read.since = now
        waiting[key] = read
        order.append(key)
    }

    mutating func putBack(_ reads: [any QueuedRead]) {
        returned.insert(contentsOf: reads, at: 0)
    }

    /// Takes those that have waited longest, but one list of each owner: many requests of one owner delay only that
    /// owner's lists.
    mutating func next(_ count: Int) -> [any QueuedRead] {
        var chosen: [any QueuedRead] = []
        var owners: Set<Owner> = []
        func takes(_ statement: Statement) -> Bool {
            guard chosen.count < count else { return false }
            guard statement.takesTurns, let owner = statement.owner else { return true }
            return owners.insert(owner).inserted
        }
        var later: [any QueuedRead] = []
        for read in returned {
            if takes(read.statement) { chosen.append(read) } else { later.append(read) }
        }
        returned = later
        var rest: [Key] = []
        for (index, key) in order.enumerated() {
            guard chosen.count < count else {
                rest += order[index...]
                break
            }
            if takes(key.statement), let read = waiting.removeValue(forKey: key) {
                chosen.append(read)
            } else {
                rest.append(key)
            }
        }
        order = rest
        return chosen
    }

    /// Takes all, or those that have waited since before a monotonic time.
    mutating func removeAll(since limit: UInt64 = .max) -> [any QueuedRead] {
        var removed = returned.filter { $0.since < limit }
        returned.removeAll { $0.since < limit }
        // The first has waited longest.
        guard let first = order.first, let read = waiting[first], read.since < limit else { return removed }
        order.removeAll { key in
            guard let read = waiting[key], read.since < limit else { return false }
            removed.append(read)
            waiting[key] = nil
            return true
        }
        return removed
    }
}
