import Synchronization

/// The memory that long lists may take together, counted from before they are made until they are sent or given up.
///
/// Each list holds an ``AnswerLease`` of it. No owner may hold more than a third of what is free then: one alone gets a
/// quarter of all, a second one a fifth, and some is always left for the next. Lists of up to ``unleased`` bytes are
/// not counted, so they can always be sent; the server bounds them by its number of connections.
///
/// All who are sent the same list share one copy of it, whichever store made it and however often: see ``shared(_:of:)``.
package final class AnswerMemory: Sendable {
    /// The memory of long lists now, and the refusals until now.
    package struct Statistics: Sendable, Equatable {
        /// Bytes held now.
        package var held = 0
        /// Lists that found no room.
        package var refused = 0

        package init(held: Int = 0, refused: Int = 0) {
            self.held = held
            self.refused = refused
        }
    }

    private struct State {
        var statistics = Statistics()
        var owners: [Owner: Holding] = [:]
    }

    /// What one owner's lists hold.
    private struct Holding {
        var bytes = 0
        var lists: [HeldList] = []
    }

    /// A list that someone holds; its lease has the bytes.
    private struct HeldList {
        let entityTag: String
        let identity: ObjectIdentifier
        weak var lease: AnswerLease?
    }

    /// The longest list that needs no lease, in bytes: as many as there may be connections are little memory.
    package static let unleased = 16384

    /// The most that all lists may hold, in bytes.
    package let limit: Int
    private let state = Mutex(State())

    package init(limit: Int = 64 << 20) {
        self.limit = limit
    }

    /// Where a list is cut, in bytes: a page ends with the task that reaches it.
    ///
    /// A sixteenth, so that one owner's share has room for a page and the buffer from which it grew.
    package var pageSize: Int { limit / 16 }

    package var statistics: Statistics { state.withLock { $0.statistics } }

    /// A lease of this many bytes, if there is room for this owner.
    package func lease(_ bytes: Int, for owner: Owner) -> AnswerLease? {
        take(bytes, for: owner) ? AnswerLease(bytes, of: self, for: owner) : nil
    }

    fileprivate func take(_ bytes: Int, for owner: Owner) -> Bool {
        state.withLock { state in
            let mine = (state.owners[owner]?.bytes ?? 0) + bytes
            let held = state.statistics.held + bytes
            guard held <= limit, mine <= (limit - held) / 3 else {
                state.statistics.refused += 1
                return false
            }
            state.owners[owner, default: Holding()].bytes = mine
            state.statistics.held = held
            return true
        }
    }

    /// The same list in the memory of an equal one that is still being sent to its owner; where there is none, the list itself, whose
    /// memory later ones share.
    ///
    /// A list without a lease is returned as it is.
    func shared(_ list: TaskList, of owner: Owner) -> TaskList {
        guard let lease = list.lease else { return list }
        // Leases end outside of the lock, which their end takes.
        let held = state.withLock { state in
            state.owners[owner]?.lists.filter { $0.entityTag == list.entityTag }.compactMap(\.lease) ?? []
        }
        for other in held {
            let json = other.json.withLock { $0 }
            if json == list.json { return TaskList(list, in: json, of: other) }
        }
        lease.json.withLock { $0 = list.json }
        let entry = HeldList(entityTag: list.entityTag, identity: ObjectIdentifier(lease), lease: lease)
        state.withLock { $0.owners[owner]?.lists.append(entry) }
        return list
    }

    fileprivate func giveBack(_ bytes: Int, of owner: Owner, ending lease: ObjectIdentifier? = nil) {
        state.withLock { state in
            state.statistics.held -= bytes
            guard var holding = state.owners.removeValue(forKey: owner) else { return }
            holding.bytes -= bytes
            if let lease { holding.lists.removeAll { $0.identity == lease } }
            if holding.bytes > 0 { state.owners[owner] = holding }
        }
    }
}

/// Memory for a long list; released with the last reference to it.
package final class AnswerLease: Sendable {
    private let memory: AnswerMemory
    private let owner: Owner
    private let bytes: Atomic<Int>
    /// The list, if others may share its memory.
    fileprivate let json = Mutex<[UInt8]>([])

    fileprivate init(_ bytes: Int, of memory: AnswerMemory, for owner: Owner) {
        self.memory = memory
        self.owner = owner
        self.bytes = Atomic(bytes)
    }

    deinit { memory.giveBack(bytes.load(ordering: .relaxed), of: owner, ending: ObjectIdentifier(self)) }

    /// Changes it to this many bytes; false, and nothing is changed, if there is no room for more.
    ///
    /// For the maker of the list; one thread at a time.
    package func resize(to wanted: Int) -> Bool {
        let more = wanted - bytes.load(ordering: .relaxed)
        if more < 0 {
            memory.giveBack(-more, of: owner)
        } else if more > 0 {
            guard memory.take(more, for: owner) else { return false }
        }
        bytes.store(wanted, ordering: .relaxed)
        return true
    }
}
