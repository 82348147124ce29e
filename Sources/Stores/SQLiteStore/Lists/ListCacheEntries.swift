import Tasks

/// Lists up to a number of bytes.
///
/// To make room, the hand goes around and removes the next list that was not read since it last passed (the CLOCK
/// algorithm).
struct ListCacheEntries {
    private struct Entry {
        let owner: Owner
        /// The list without its lease, because the cache counts the list by its cost.
        let list: TaskList
        /// Whether the list is sent under a lease.
        let isLong: Bool
        /// The lease of all to whom a long list is being sent; it ends with the last of them.
        weak var lease: AnswerLease?
        var wasUsed = false

        /// The bytes of the list and its gzip form, of the owner twice (key and entry), and an estimate for the collections.
        var cost: Int { list.mostBytes + 2 * owner.identifier.utf8.count + 256 }
    }

    private let capacity: Int
    private let answers: AnswerMemory
    private var positions: [Owner: Int] = [:]
    private var entries: [Entry] = []
    private var hand = 0
    private(set) var bytes = 0
    private(set) var evictions = 0

    init(capacity: Int, answers: AnswerMemory) {
        self.capacity = capacity
        self.answers = answers
    }

    var count: Int { entries.count }

    /// The list of an owner, or an error if there is no lease for a long list now; nil if the list is not cached.
    mutating func list(of owner: Owner) -> Result<TaskList, StoreError>? {
        guard let position = positions[owner] else { return nil }
        entries[position].wasUsed = true
        let list = entries[position].list
        guard entries[position].isLong else { return .success(list) }
        if let lease = entries[position].lease { return .success(list.holding(lease)) }
        let bytes = list.json.capacity
        guard let lease = answers.lease(bytes, for: owner) else { return .failure(.noRoomForAnswer(bytes: bytes)) }
        entries[position].lease = lease
        return .success(list.holding(lease))
    }

    /// Keeps a list, unless it alone is larger than the capacity.
    mutating func put(_ list: TaskList, of owner: Owner) {
        remove(owner)
        let isLong = list.lease != nil
        let entry = Entry(owner: owner, list: list.holding(nil), isLong: isLong, lease: list.lease)
        guard entry.cost <= capacity else { return }
        while bytes + entry.cost > capacity { evict() }
        positions[owner] = entries.count
        entries.append(entry)
        bytes += entry.cost
    }

    mutating func remove(_ owner: Owner) {
        guard let position = positions.removeValue(forKey: owner) else { return }
        bytes -= entries[position].cost
        // The last entry moves into the gap, so that the array never has gaps.
        let last = entries.removeLast()
        guard position < entries.count else { return }
        entries[position] = last
        positions[last.owner] = position
    }

    mutating func removeAll() {
        positions = [:]
        entries = []
        (bytes, hand) = (0, 0)
    }

    private mutating func evict() {
        while true {
            if hand >= entries.count { hand = 0 }
            guard entries[hand].wasUsed else { break }
            entries[hand].wasUsed = false
            hand += 1
        }
        remove(entries[hand].owner)
        evictions += 1
    }
}
