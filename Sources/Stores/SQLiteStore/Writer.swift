import Platform
import SQLite
import StoreEngine
import Synchronization
import Tasks

/// What other threads see of the writing thread: its queue and its counts.
final class Writer: Sendable {
    let queue: WorkQueue<any QueuedWrite>
    let checkpointer: Checkpointer
    let cache: ListCache
    let observer: @Sendable (StoreEvent) -> Void
    let rowLimit: Int
    let time: any TimeSource
    let health: SQLiteHealth
    private let counts = Mutex(StoreStatistics())
    /// The longest wait for a transaction, in nanoseconds.
    private let patience: UInt64

    init(options: SQLiteStoreOptions, cache: ListCache, health: SQLiteHealth) {
        queue = WorkQueue(capacity: options.waiting)
        self.cache = cache
        observer = options.observer
        let queue = queue
        checkpointer = Checkpointer(observer: options.observer) { queue.wake() }
        rowLimit = options.batch
        patience = options.patience * 1_000_000_000
        time = options.time
        self.health = health
    }

    /// Gives a command to the thread, and waits for its transaction.
    func perform<Command: SQLiteCommand>(_ command: Command) async throws(StoreError) -> Command.Outcome {
        try await Reply<Command.Outcome>.awaiting { reply in
            let deadline = SystemTime().monotonicNanoseconds + patience
            let write = QueuedCommand(command: command, reply: reply, deadline: deadline)
            if !queue.submit(write) { refuse([write]) }
        }
    }

    /// Refuses those that have waited for too long.
    func refuseOverdue() {
        let now = SystemTime().monotonicNanoseconds
        refuse(queue.remove { $0.deadline <= now })
    }

    private func refuse(_ writes: [any QueuedWrite]) {
        guard !writes.isEmpty else { return }
        count { $0.refused += writes.count }
        for write in writes { write.refuse(.overloaded) }
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
