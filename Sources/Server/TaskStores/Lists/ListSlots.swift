import Tasks

/// Lists up to a number of bytes; the one to go is the next that nobody asked for since the hand came by (CLOCK).
struct ListSlots {
    private struct Slot {
        let owner: Owner
        let list: TaskList
        var wasUsed = false

        /// The bytes of the list, of the owner twice (key and slot), and of the tables' own entries, estimated.
        var cost: Int { list.json.count + 2 * owner.identifier.utf8.count + 256 }
    }

    private let capacity: Int
    private var positions: [Owner: Int] = [:]
    private var slots: [Slot] = []
    private var hand = 0
    private(set) var bytes = 0
    private(set) var evictions = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { slots.count }

    mutating func list(of owner: Owner) -> TaskList? {
        guard let position = positions[owner] else { return nil }
        slots[position].wasUsed = true
        return slots[position].list
    }

    /// Keeps a list, unless it alone is larger than everything may be.
    mutating func put(_ list: TaskList, of owner: Owner) {
        remove(owner)
        let slot = Slot(owner: owner, list: list)
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
