import Synchronization

/// The memory that all long lists may take together, from before a list is made until it is sent or given up.
///
/// No owner may hold more than a third of the memory that is free then: one owner alone gets a quarter of all, a second
/// one gets a fifth, and some is always left for the next. Lists of up to ``unleased`` bytes are not counted, because
/// the number of connections bounds them.
package final class AnswerMemory: Sendable {
    /// The memory of long lists now, and the refusals until now.
    package struct Statistics: Sendable, Equatable {
        /// Bytes held now.
        package var held = 0
        /// Requests that found no room, also after they had waited for it.
        package var refused = 0
        /// Requests that wait for room now.
        package var waiting = 0

        package init(held: Int = 0, refused: Int = 0) {
            self.held = held
            self.refused = refused
        }
    }

    fileprivate struct State {
        let limit: Int
        var statistics = Statistics()
        var owners: [Owner: Holding] = [:]
        /// The waiting requests, in the order in which they came.
        var waiting: [Waiter] = []

        /// Whether an owner may have this many bytes more, after others have taken some more.
        func hasRoom(for bytes: Int, of owner: Owner, besides others: Int = 0) -> Bool {
            let mine = (owners[owner]?.bytes ?? 0) + bytes
            let held = statistics.held + others + bytes
            return held <= limit && mine <= (limit - held) / 3
        }
    }

    fileprivate struct Waiter {
        let caller: ObjectIdentifier
        let owner: Owner
        let bytes: Int
        let resume: @Sendable (Bool) -> Void
    }

    /// What one owner's lists hold.
    fileprivate struct Holding {
        var bytes = 0
        var lists: [HeldList] = []
    }

    /// A list that is being sent; its lease knows the number of bytes.
    fileprivate struct HeldList {
        let entityTag: String
        let identity: ObjectIdentifier
        weak var lease: AnswerLease?
    }

    /// The longest list that needs no lease, in bytes.
    package static let unleased = 16384

    /// The number of requests that may wait for room, of all owners and of one; each reads its list again.
    fileprivate static let mostWaiting = (all: 64, ofOne: 4)

    /// The most that all lists may hold, in bytes.
    package let limit: Int
    private let state: Mutex<State>

    package init(limit: Int = 64 << 20) {
        self.limit = limit
        state = Mutex(State(limit: limit))
    }

    /// The bytes at which a page ends: an owner's share has room for a page and for the buffer that grew into it.
    package var pageSize: Int { limit / 16 }

    package var statistics: Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waiting = state.waiting.count
            return statistics
        }
    }

    /// A lease of this many bytes, if there is room for this owner.
    package func lease(_ bytes: Int, for owner: Owner) -> AnswerLease? {
        take(bytes, for: owner) ? AnswerLease(bytes, of: self, for: owner) : nil
    }

    /// A lease for an answer or a request of this many bytes; nil if it is so short that it needs none.
    package func leaseIfLong(_ bytes: Int, for owner: Owner) throws(StoreError) -> AnswerLease? {
        guard bytes > Self.unleased else { return nil }
        guard let lease = lease(bytes, for: owner) else { throw .noRoomForAnswer(bytes: bytes) }
        return lease
    }

    fileprivate func take(_ bytes: Int, for owner: Owner) -> Bool {
        state.withLock { state in
            guard state.hasRoom(for: bytes, of: owner) else { return false }
            state.owners[owner, default: Holding()].bytes += bytes
            state.statistics.held += bytes
            return true
        }
    }

    /// Returns a list that shares its bytes with an equal list that this owner is being sent, if there is one.
    ///
    /// Otherwise later lists share the bytes of this one. A list without a lease is returned as it is.
    func shared(_ list: TaskList, of owner: Owner) -> TaskList {
        guard let lease = list.lease else { return list }
        // A lease takes the lock when it ends, so the leases end after the lock is released.
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
        let ready = state.withLock { state in
            state.statistics.held -= bytes
            if var holding = state.owners.removeValue(forKey: owner) {
                holding.bytes -= bytes
                if let lease { holding.lists.removeAll { $0.identity == lease } }
                if holding.bytes > 0 { state.owners[owner] = holding }
            }
            return state.waiting.isEmpty ? [] : state.takeReady()
        }
        for waiter in ready { waiter.resume(true) }
    }
}

// MARK: Waiting for room

extension AnswerMemory {
    /// Lets a caller wait for this many bytes of an owner, behind those who wait already.
    ///
    /// The closure is called with true as soon as there is room, which may be at once, and with false if too many wait.
    /// Nothing is leased by that, so another request may take the room first.
    package func enqueue(
        _ caller: ObjectIdentifier, for bytes: Int, of owner: Owner, _ resume: @escaping @Sendable (Bool) -> Void
    ) {
        let answer = state.withLock { state -> Bool? in
            guard state.mayWait(owner) else { return false }
            guard !state.hasRoom(for: bytes, of: owner) else { return true }
            state.waiting.append(Waiter(caller: caller, owner: owner, bytes: bytes, resume: resume))
            return nil
        }
        if let answer { resume(answer) }
    }

    /// Counts a request that found no room; if its caller waits, the wait is over.
    package func refuse(_ caller: ObjectIdentifier) {
        state.withLock { state in
            state.waiting.removeAll { $0.caller == caller }
            state.statistics.refused += 1
        }
    }
}

extension AnswerMemory.State {
    /// Whether one more request of this owner may wait.
    fileprivate func mayWait(_ owner: Owner) -> Bool {
        waiting.count < AnswerMemory.mostWaiting.all
            && waiting.count { $0.owner == owner } < AnswerMemory.mostWaiting.ofOne
    }

    /// Removes and returns the waiting requests that have room now, all together.
    fileprivate mutating func takeReady() -> [AnswerMemory.Waiter] {
        var (ready, rest): ([AnswerMemory.Waiter], [AnswerMemory.Waiter]) = ([], [])
        var promised = 0
        for waiter in waiting {
            if hasRoom(for: waiter.bytes, of: waiter.owner, besides: promised) {
                promised += waiter.bytes
                ready.append(waiter)
            } else {
                rest.append(waiter)
            }
        }
        waiting = rest
        return ready
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

    /// A lease of other memory for the same owner, if there is room for it.
    package func another(_ bytes: Int) -> AnswerLease? { memory.lease(bytes, for: owner) }

    /// Changes the lease to this many bytes; returns false, and changes nothing, if there is no room for more.
    ///
    /// Only the maker of the list calls this, from one thread at a time.
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
