import Synchronization
package import Tasks

/// Caches rendered lists (everything of one owner), up to a number of bytes, so that most reads touch no disk.
///
/// A list is never older than another answer, because the lists of a transaction's owners are removed before its commit, and
/// none is kept until the commit is over. Neither is the list of a load that began before: a load is announced before it
/// reads.
package final class ListCache: Sendable {
    /// The number of a load that has begun and not finished.
    package typealias Load = UInt64

    private struct State {
        var entries: ListCacheEntries
        /// The unfinished load of an owner, unless a change has invalidated it.
        var loads: [Owner: Load] = [:]
        var lastLoad: Load = 0
        /// The owners whose tasks are being changed by a commit.
        var changing: Set<Owner> = []
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

    /// The list of an owner, or an error if it cannot be sent now; nil if it is not cached.
    package func list(of owner: Owner) -> Result<TaskList, StoreError>? {
        state.withLock { state in
            let list = state.entries.list(of: owner)
            if case .success? = list { state.hits += 1 }
            return list
        }
    }

    /// Announces a load.
    package func beginLoad(of owner: Owner) -> Load {
        state.withLock { state in
            state.lastLoad += 1
            state.loads[owner] = state.lastLoad
            return state.lastLoad
        }
    }

    /// Ends a load, and keeps its list if nothing was changed since the load began.
    package func finish(_ load: Load, of owner: Owner, with list: TaskList?) {
        state.withLock { state in
            guard state.loads[owner] == load else { return }
            state.loads[owner] = nil
            if let list, !state.changing.contains(owner) { state.entries.put(list, of: owner) }
        }
    }

    /// Removes the lists of owners whose tasks a commit changes, and keeps none of them until ``endChange(of:)``.
    package func beginChange(of owners: [Owner]) {
        state.withLock { state in
            for owner in owners {
                state.changing.insert(owner)
                state.entries.remove(owner)
            }
        }
    }

    /// Invalidates the loads that began before the commit was over.
    package func endChange(of owners: [Owner]) {
        state.withLock { state in
            for owner in owners {
                state.changing.remove(owner)
                state.loads[owner] = nil
            }
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
