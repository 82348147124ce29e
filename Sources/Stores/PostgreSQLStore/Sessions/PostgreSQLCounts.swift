import Synchronization
import Tasks

/// What the driving thread counts and others ask for.
final class PostgreSQLCounts: Sendable {
    private let state = Mutex(StoreStatistics())

    var statistics: StoreStatistics { state.withLock { $0 } }

    func refused() {
        state.withLock { $0.refused += 1 }
    }

    func count(_ result: BatchResult) {
        guard !result.writes.isEmpty || result.lists > 0 else { return }
        state.withLock { statistics in
            statistics.listMisses += result.lists
            guard !result.writes.isEmpty else { return }
            guard result.isCommitted else { return statistics.failedCommits += 1 }
            statistics.commits += 1
            statistics.writes += result.verdicts.count { !$0.isRetry }
        }
    }
}
