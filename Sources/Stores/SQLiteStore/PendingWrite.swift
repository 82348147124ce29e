import SQLite
import Tasks

/// A write that waits for its transaction, whatever its outcome is.
protocol PendingWrite: Sendable {
    /// Runs it in the open transaction; the answer may be given only after the commit.
    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> WriteAnswer
    /// Answers with an error: nothing was changed.
    func refuse(_ error: StoreError)
}

/// What to do once a write is on the disk.
struct WriteAnswer {
    /// Whose list is another now.
    let changed: Owner?
    /// Answers the caller.
    let give: () -> Void
}

struct Pending<Operation: WriteOperation>: PendingWrite {
    let operation: Operation
    let reply: Reply<Operation.Outcome>

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> WriteAnswer {
        let outcome = try operation.run(on: database)
        let reply = reply
        return WriteAnswer(changed: operation.changesList(outcome) ? operation.owner : nil) {
            reply.answer(.success(outcome))
        }
    }

    func refuse(_ error: StoreError) {
        reply.answer(.failure(error))
    }
}
