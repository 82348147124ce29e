import Tasks
import Synchronization

/// What the driving thread counts and others ask for.
final class StoreCounts: Sendable {
    private struct State {
        var statistics = StoreStatistics()
        var hasFailed = false
    }

    private let state = Mutex(State())
    /// A transaction may not cover owners of several servers.
    let isOneOwnerOnly: Bool

    init(isOneOwnerOnly: Bool) {
        self.isOneOwnerOnly = isOneOwnerOnly
    }

    var statistics: StoreStatistics { state.withLock { $0.statistics } }

    func refused() {
        state.withLock { $0.statistics.refused += 1 }
    }

    func note(_ unit: any StoreUnit, _ end: UnitEnd) {
        state.withLock { state in
            guard unit.isWriting else { return state.statistics.listMisses += end.answered }
            guard unit.callers > 0 else { return }
            if end.isCommitted { state.statistics.commits += 1 } else { state.statistics.failedCommits += 1 }
            if end.isCommitted { state.statistics.writes += end.answered }
        }
    }

    var hasFailed: Bool {
        get { state.withLock { $0.hasFailed } }
        set { state.withLock { $0.hasFailed = newValue } }
    }
}
