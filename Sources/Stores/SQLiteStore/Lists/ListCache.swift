import Synchronization
package import Tasks

/// Caches rendered lists (everything of one owner), up to a number of bytes, so that most reads touch no disk.
///
/// No reader can put an outdated list here, because a load is announced before it reads, and a write removes its owner's
/// list after its commit. A load that began before the commit is invalidated by the removal: ``finish(_:of:with:)`` gives
/// its list to those who waited, whose calls began before the write was answered, and does not keep the list.
package final class ListCache: Sendable {
    /// Receives the list of a load, which another caller may have begun.
    package typealias Waiter = @Sendable (Result<TaskList, StoreError>) -> Void

    /// The number of a load that has begun and not finished.
    package typealias Load = UInt64

    /// The state in which a caller finds the list that it asks for.
    package enum JoinResult {
        /// The list is cached, or too long to be sent now; the waiter was not kept.
        case known(Result<TaskList, StoreError>)
        /// A load has begun, and will call the waiter.
        case joined
        /// The caller must load, and finish; then the waiter is called with the others.
        case mustLoad(Load)
    }

    private struct State {
        var entries: ListCacheEntries
        /// The unfinished load of an owner, unless a change has invalidated it.
        var loads: [Owner: Load] = [:]
        var waiters: [Load: [Waiter]] = [:]
        var lastLoad: Load = 0
        var hits = 0
    }

    /// The lock is held for some hundred nanoseconds.
    private let state: Mutex<State>

    /// A cache of this many bytes; 0 keeps nothing.
    ///
    /// The memory of lists that are being sent is leased from `answers`.
    package init(capacity: Int, answers: AnswerMemory = AnswerMemory()) {
        state = Mutex(State(entries: ListCacheEntries(capacity: capacity, answers: answers)))
    }

    /// The list of an owner, if it is cached and can be sent.
    package func list(of owner: Owner) -> TaskList? {
        state.withLock { state in
            guard case .success(let list)? = state.entries.list(of: owner) else { return nil }
            state.hits += 1
            return list
        }
    }

    /// Waits for the list of an owner; the first to wait must load it.
    package func join(_ owner: Owner, _ waiter: @escaping Waiter) -> JoinResult {
        state.withLock { state in
            if let result = state.entries.list(of: owner) {
                if case .success = result { state.hits += 1 }
                return .known(result)
            }
            if let load = state.loads[owner] {
                state.waiters[load, default: []].append(waiter)
                return .joined
            }
            state.lastLoad += 1
            state.loads[owner] = state.lastLoad
            state.waiters[state.lastLoad] = [waiter]
            return .mustLoad(state.lastLoad)
        }
    }

    /// Ends a load: calls all who waited, and keeps the list if nothing was changed since the load began.
    package func finish(_ load: Load, of owner: Owner, with result: Result<TaskList, StoreError>) {
        let waiters = state.withLock { state in
            if state.loads[owner] == load {
                state.loads[owner] = nil
                if case .success(let list) = result { state.entries.put(list, of: owner) }
            }
            return state.waiters.removeValue(forKey: load) ?? []
        }
        for waiter in waiters { waiter(result) }
    }

    /// Removes an owner's list, and invalidates a load of it.
    package func remove(_ owner: Owner) {
        state.withLock { state in
            state.loads[owner] = nil
            state.entries.remove(owner)
        }
    }

    /// Removes all lists, and invalidates all loads.
    package func removeAll() {
        state.withLock { state in
            state.loads = [:]
            state.entries.removeAll()
        }
    }

    /// Adds the counts of the cache.
    func report(to statistics: inout StoreStatistics) {
        state.withLock { state in
            statistics.listHits = state.hits
            statistics.listEvictions = state.entries.evictions
            statistics.lists = state.entries.count
            statistics.listBytes = state.entries.bytes
        }
    }
}
