import SQLite
import Tasks

/// A write in the queue of the writing thread, whatever the type of its outcome.
protocol QueuedWrite: Sendable {
    var owner: Owner { get }
    /// See ``SQLiteCommand/rows``.
    var rows: Int { get }
    /// Monotonic nanoseconds; it is refused if it still waits then.
    var deadline: UInt64 { get }
    /// Runs it in the open transaction; its caller may be answered only after the commit.
    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> WriteResult
    /// Answers with an error: nothing was changed.
    func refuse(_ error: StoreError)
}

/// What to do once a write is on the disk.
struct WriteResult {
    /// The owner whose list has changed; nil if none has.
    let changedOwner: Owner?
    let answer: () -> Void
}

struct QueuedCommand<Command: SQLiteCommand>: QueuedWrite {
    let command: Command
    let reply: Reply<Command.Outcome>
    let deadline: UInt64

    var owner: Owner { command.owner }
    var rows: Int { command.rows }

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> WriteResult {
        let outcome = try command.run(on: database)
        let reply = reply
        return WriteResult(changedOwner: Command.changesList(outcome) ? command.owner : nil) {
            reply.answer(.success(outcome))
        }
    }

    func refuse(_ error: StoreError) {
        reply.answer(.failure(error))
    }
}
