import Tasks
import Platform
import SQLite
import Synchronization

/// Carries the database and its file to the writing thread, and ends them there, in this order.
final class WriterBox: Sendable {
    private struct Contents: ~Copyable {
        let database: WriterDatabase
        let file: DatabaseFile
    }

    private let contents: Mutex<Contents?>

    init(_ database: consuming sending WriterDatabase, _ file: DatabaseFile) {
        contents = Mutex(Contents(database: database, file: file))
    }

    func work(for writer: Writer) {
        guard let contents = contents.withLock({ $0.take() }) else { return }
        let file = contents.file
        let isCheckpointed = WriterLoop(contents.database, in: file, for: writer).run()
        // The connection is closed by now; only then may another server come.
        _ = consume file
        writer.observer(.closed(checkpointed: isCheckpointed))
    }
}
