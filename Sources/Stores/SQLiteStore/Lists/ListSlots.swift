import Tasks

/// Lists up to a number of bytes; the one to go is the next that nobody asked for since the hand came by (CLOCK).
struct ListSlots {
    private struct Slot {
        let owner: Owner
        /// Without its lease: here it is counted by its cost.
        let list: TaskList
        /// Of a long list, the lease of those to whom it is being sent.
        let sent: SharedLease?
        var wasUsed = false

        /// The bytes of the list, of the owner twice (key and slot), and of the tables' own entries, estimated.
        var cost: Int { list.json.capacity + 2 * owner.identifier.utf8.count + 256 }
    }

    /// What is here of an owner.
    enum Entry {
        case found(TaskList)
        /// A list for which there is no lease now.
        case noRoom
        case missing
    }

    /// One lease for all who are sent the same list: it ends with the last of them, and the list may stay here.
    private final class SharedLease {
        weak var lease: AnswerLease?

        init(_ lease: AnswerLease) { self.lease = lease }
    }

    private let capacity: Int
    private let answers: AnswerMemory
    private var positions: [Owner: Int] = [:]
    private var slots: [Slot] = []
    private var hand = 0
    private(set) var bytes = 0
    private(set) var evictions = 0

    init(capacity: Int, answers: AnswerMemory) {
        self.capacity = capacity
        self.answers = answers
    }

    var count: Int { slots.count }

    mutating func list(of owner: Owner) -> Entry {
        guard let position = positions[owner] else { return .missing }
        slots[position].wasUsed = true
        let list = slots[position].list
        guard let sent = slots[position].sent else { return .found(list) }
        if let lease = sent.lease { return .found(list.holding(lease)) }
        guard let lease = answers.lease(list.json.capacity, for: owner) else { return .noRoom }
        sent.lease = lease
        return .found(list.holding(lease))
    }

    /// Keeps a list, unless it alone is larger than everything may be.
    mutating func put(_ list: TaskList, of owner: Owner) {
        remove(owner)
        let slot = Slot(owner: owner, list: list.holding(nil), sent: list.lease.map { SharedLease($0) })
        guard slot.cost <= capacity else { return }
        while bytes + slot.cost > capacity { evict() }
        positions[owner] = slots.count
        slots.append(slot)
        bytes += slot.cost
    }

    mutating func remove(_ owner: Owner) {
        guard let position = positions.removeValue(forKey: owner) else { return }
        bytes -= slots[position].cost
        // The last slot moves into the gap, so that there are no gaps to look after.
        let last = slots.removeLast()
        guard position < slots.count else { return }
        slots[position] = last
        positions[last.owner] = position
    }

    mutating func removeAll() {
        positions = [:]
        slots = []
        (bytes, hand) = (0, 0)
    }

    private mutating func evict() {
        while true {
            if hand >= slots.count { hand = 0 }
            guard slots[hand].wasUsed else { break }
            slots[hand].wasUsed = false
            hand += 1
        }
        remove(slots[hand].owner)
        evictions += 1
    }
}
