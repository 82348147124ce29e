import Synchronization
import Tasks

/// A part of the memory of lists under a lock of its own, held for some hundred nanoseconds.
final class ListShard: Sendable {
    private struct State {
        var slots: ListSlots
        /// The load under way of an owner, unless a change has struck it out.
        var loads: [Owner: UInt64] = [:]
        var waiters: [UInt64: [ListMemory.Waiter]] = [:]
        var lastLoad: UInt64 = 0
        var hits = 0
        var misses = 0
    }

    private let state: Mutex<State>

    init(capacity: Int, answers: AnswerMemory) {
        state = Mutex(State(slots: ListSlots(capacity: capacity, answers: answers)))
    }

    func list(of owner: Owner) -> TaskList? {
        state.withLock { state in
            guard case .found(let list) = state.slots.list(of: owner) else { return nil }
            state.hits += 1
            return list
        }
    }

    func join(_ owner: Owner, _ waiter: @escaping ListMemory.Waiter) -> ListMemory.Entry {
        state.withLock { state in
            switch state.slots.list(of: owner) {
            case .found(let list):
                state.hits += 1
                return .found(list)
            case .noRoom: return .refused(.noRoomForAnswer)
            case .missing: break
            }
            state.misses += 1
            if let load = state.loads[owner] {
                state.waiters[load, default: []].append(waiter)
                return .joined
            }
            state.lastLoad += 1
            state.loads[owner] = state.lastLoad
            state.waiters[state.lastLoad] = [waiter]
            return .mustLoad(ListMemory.Load(number: state.lastLoad))
        }
    }

    func finish(
        _ load: ListMemory.Load, of owner: Owner, with result: Result<TaskList, StoreError>
    ) -> [ListMemory.Waiter] {
        state.withLock { state in
            if state.loads[owner] == load.number {
                state.loads[owner] = nil
                if case .success(let list) = result { state.slots.put(list, of: owner) }
            }
            return state.waiters.removeValue(forKey: load.number) ?? []
        }
    }

    func drop(_ owner: Owner) {
        state.withLock { state in
            state.loads[owner] = nil
            state.slots.remove(owner)
        }
    }

    func dropAll() {
        state.withLock { state in
            state.loads = [:]
            state.slots.removeAll()
        }
    }

    func report(to statistics: inout StoreStatistics) {
        state.withLock { state in
            statistics.listHits += state.hits
            statistics.listMisses += state.misses
            statistics.listEvictions += state.slots.evictions
            statistics.lists += state.slots.count
            statistics.listBytes += state.slots.bytes
        }
    }
}
