import Platform
import SQLite
import Synchronization

/// Carries the database and its lock to the writing thread, and ends them there, in this order.
final class WriterBox: Sendable {
    private struct Contents: ~Copyable {
        let database: WriterDatabase
        let lock: FileLock
    }

    private let contents: Mutex<Contents?>

    init(_ database: consuming sending WriterDatabase, _ lock: consuming sending FileLock) {
        contents = Mutex(Contents(database: database, lock: lock))
    }

    func work(for writer: Writer) {
        guard let contents = contents.withLock({ $0.take() }) else { return }
        let lock = contents.lock
        let isCheckpointed = WriterLoop(contents.database, for: writer).run()
        // The connection is closed by now; only then may another server come.
        _ = consume lock
        writer.observer(.closed(checkpointed: isCheckpointed))
    }
}
