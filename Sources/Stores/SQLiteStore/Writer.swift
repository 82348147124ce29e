import Platform
import SQLite
import Synchronization
import Tasks

/// The front of the writing thread: takes writes from anywhere, and counts.
final class Writer: Sendable {
    let queue: WorkQueue<any PendingWrite>
    let memory: ListMemory
    let observer: @Sendable (StoreEvent) -> Void
    let batchLimit: Int
    let time: any TimeSource
    let health: StoreHealth
    private let counts = Mutex(StoreStatistics())

    init(options: SQLiteStoreOptions, memory: ListMemory, health: StoreHealth) {
        queue = WorkQueue(capacity: options.waiting)
        self.memory = memory
        observer = options.observer
        batchLimit = options.batch
        time = options.time
        self.health = health
    }

    /// Hands a write to the thread, and waits for its transaction.
    func perform<Operation: WriteOperation>(_ operation: Operation) async throws(StoreError) -> Operation.Outcome {
        try await Reply<Operation.Outcome>.awaiting { reply in
            let pending = Pending(operation: operation, reply: reply)
            guard !queue.submit(pending) else { return }
            count { $0.refused += 1 }
            pending.refuse(.overloaded)
        }
    }

    func count(_ change: (inout StoreStatistics) -> Void) {
        counts.withLock { change(&$0) }
    }

    var statistics: StoreStatistics {
        var statistics = counts.withLock { $0 }
        statistics.waitingWrites = queue.count
        return statistics
    }
}
