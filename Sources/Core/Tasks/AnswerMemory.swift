import Synchronization

/// The places of all long answers, each from when the answer outgrows ``unplaced`` bytes until it is sent or given up.
///
/// There are as many places as pages fit in the memory. An owner gets two at most, so a slow reader leaves the others to
/// other people. Answers of up to ``unplaced`` bytes need none, because the number of connections bounds them.
package final class AnswerMemory: Sendable {
    /// The places that are taken now, in bytes, and the refusals until now.
    package struct Statistics: Sendable, Equatable {
        /// The bytes of the places that are taken.
        package var held = 0
        /// Requests that found no place, also after they had waited for one.
        package var refused = 0
        /// Requests that wait for a place now.
        package var waiting = 0

        package init(held: Int = 0, refused: Int = 0, waiting: Int = 0) {
            (self.held, self.refused, self.waiting) = (held, refused, waiting)
        }
    }

    private struct Waiter {
        let caller: ObjectIdentifier
        let owner: Owner
        let resume: @Sendable (AnswerPlace?) -> Void
    }

    private struct State {
        var taken = 0
        var owners: [Owner: Int] = [:]
        /// The requests that wait, in the order in which they came.
        var waiting: [Waiter] = []
        var refused = 0

        func hasPlace(for owner: Owner) -> Bool {
            taken < AnswerMemory.places && owners[owner] ?? 0 < AnswerMemory.mostOfOwner
        }

        mutating func take(for owner: Owner) -> Bool {
            guard hasPlace(for: owner) else { return false }
            taken += 1
            owners[owner, default: 0] += 1
            return true
        }

        /// Gives a place back, and takes it for the first waiter whose owner may have it.
        mutating func giveBack(of owner: Owner) -> Waiter? {
            taken -= 1
            let left = (owners[owner] ?? 1) - 1
            owners[owner] = left > 0 ? left : nil
            guard let next = waiting.firstIndex(where: { hasPlace(for: $0.owner) }) else { return nil }
            let waiter = waiting.remove(at: next)
            _ = take(for: waiter.owner)
            return waiter
        }

        func mayWait(_ owner: Owner) -> Bool {
            waiting.count < AnswerMemory.mostWaiting.all
                && waiting.count { $0.owner == owner } < AnswerMemory.mostWaiting.ofOne
        }
    }

    /// The longest answer that needs no place, in bytes.
    package static let unplaced = 16384
    package static let places = 16
    /// The most places of one owner.
    package static let mostOfOwner = 2
    /// The number of requests that may wait for a place, of all owners and of one.
    private static let mostWaiting = (all: 64, ofOne: 4)

    /// The memory of all places, in bytes.
    package let limit: Int
    private let state = Mutex(State())

    package init(limit: Int = 64 << 20) { self.limit = limit }

    /// The most bytes of a page, unless a single task is longer.
    package var pageSize: Int { limit / Self.places }

    package var statistics: Statistics {
        state.withLock {
            Statistics(held: $0.taken * pageSize, refused: $0.refused, waiting: $0.waiting.count)
        }
    }

    /// A place for an answer to this owner, if one is free.
    package func place(for owner: Owner) -> AnswerPlace? {
        state.withLock { $0.take(for: owner) } ? AnswerPlace(of: self, for: owner) : nil
    }

    /// Lets a caller wait for a place behind earlier callers; the caller gets nil if too many wait.
    package func enqueue(
        _ caller: ObjectIdentifier, for owner: Owner, _ resume: @escaping @Sendable (AnswerPlace?) -> Void
    ) {
        let isTaken = state.withLock { state -> Bool? in
            if state.take(for: owner) { return true }
            guard state.mayWait(owner) else { return false }
            state.waiting.append(Waiter(caller: caller, owner: owner, resume: resume))
            return nil
        }
        if let isTaken { resume(isTaken ? AnswerPlace(of: self, for: owner) : nil) }
    }

    /// Ends the wait of a caller who gives up.
    package func leave(_ caller: ObjectIdentifier) {
        state.withLock { $0.waiting.removeAll { $0.caller == caller } }
    }

    /// Counts a request that is refused for lack of a place.
    package func countRefusal() { state.withLock { $0.refused += 1 } }

    fileprivate func giveBack(of owner: Owner) {
        guard let waiter = state.withLock({ $0.giveBack(of: owner) }) else { return }
        waiter.resume(AnswerPlace(of: self, for: waiter.owner))
    }
}

/// A place of a long answer, which the last reference to this object gives back.
package final class AnswerPlace: Sendable, Hashable {
    private let memory: AnswerMemory
    private let owner: Owner

    fileprivate init(of memory: AnswerMemory, for owner: Owner) { (self.memory, self.owner) = (memory, owner) }

    deinit { memory.giveBack(of: owner) }

    package static func == (left: AnswerPlace, right: AnswerPlace) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
