import Synchronization
import Tasks

/// A part of the cache of lists, with a lock of its own that is held for some hundred nanoseconds.
final class ListCacheShard: Sendable {
    private struct State {
        var entries: ListCacheEntries
        /// The unfinished load of an owner, unless a change has invalidated it.
        var loads: [Owner: UInt64] = [:]
        var waiters: [UInt64: [ListCache.Waiter]] = [:]
        var lastLoad: UInt64 = 0
        var hits = 0
    }

    private let state: Mutex<State>

    init(capacity: Int, answers: AnswerMemory) {
        state = Mutex(State(entries: ListCacheEntries(capacity: capacity, answers: answers)))
    }

    func list(of owner: Owner) -> TaskList? {
        state.withLock { state in
            guard case .found(let list) = state.entries.list(of: owner) else { return nil }
            state.hits += 1
            return list
        }
    }

    func join(_ owner: Owner, _ waiter: @escaping ListCache.Waiter) -> ListCache.JoinResult {
        state.withLock { state in
            switch state.entries.list(of: owner) {
            case .found(let list):
                state.hits += 1
                return .found(list)
            case .noRoom(let bytes): return .refused(.noRoomForAnswer(bytes: bytes))
            case .missing: break
            }
            if let load = state.loads[owner] {
                state.waiters[load, default: []].append(waiter)
                return .joined
            }
            state.lastLoad += 1
            state.loads[owner] = state.lastLoad
            state.waiters[state.lastLoad] = [waiter]
            return .mustLoad(ListCache.Load(number: state.lastLoad))
        }
    }

    func finish(
        _ load: ListCache.Load, of owner: Owner, with result: Result<TaskList, StoreError>
    ) -> [ListCache.Waiter] {
        state.withLock { state in
            if state.loads[owner] == load.number {
                state.loads[owner] = nil
                if case .success(let list) = result { state.entries.put(list, of: owner) }
            }
            return state.waiters.removeValue(forKey: load.number) ?? []
        }
    }

    func remove(_ owner: Owner) {
        state.withLock { state in
            state.loads[owner] = nil
            state.entries.remove(owner)
        }
    }

    func removeAll() {
        state.withLock { state in
            state.loads = [:]
            state.entries.removeAll()
        }
    }

    func report(to statistics: inout StoreStatistics) {
        state.withLock { state in
            statistics.listHits += state.hits
            statistics.listEvictions += state.entries.evictions
            statistics.lists += state.entries.count
            statistics.listBytes += state.entries.bytes
        }
    }
}
