import SQLite
import Tasks

/// Everything of the database that the writer's thread uses.
struct WriterDatabase: ~Copyable {
    let attempts: AttemptTable
    let tables: WriteTables
    private let beforeCommit: @Sendable () -> SQLiteError?

    /// Takes the connection over; the closure can make commits fail, for tests.
    static func open(
        on connection: consuming Connection, beforeCommit: @escaping @Sendable () -> SQLiteError?
    ) throws(SQLiteError) -> WriterDatabase {
        let attempts = try AttemptTable.compiled(on: connection)
        return WriterDatabase(
            attempts: attempts, tables: try WriteTables.compiled(on: connection), beforeCommit: beforeCommit)
    }

    /// Why a transaction came to nothing.
    enum Failure: Error {
        /// One of its writes failed; the others may do better without it.
        case write(SQLiteError)
        /// It could not begin or end.
        case transaction(SQLiteError)
    }

    /// Runs writes in one transaction; after a failure there is none of them.
    func commit(_ batch: [any PendingWrite]) throws(Failure) -> [WriteAnswer] {
        try beginTransaction()
        do throws(Failure) {
            let answers = try run(batch)
            try commitTransaction()
            return answers
        } catch {
            tables.connection.rollBack()
            throw error
        }
    }

    private func beginTransaction() throws(Failure) {
        do throws(SQLiteError) { try tables.beginTransaction() } catch { throw .transaction(error) }
    }

    private func run(_ batch: [any PendingWrite]) throws(Failure) -> [WriteAnswer] {
        var answers: [WriteAnswer] = []
        answers.reserveCapacity(batch.count)
        do throws(SQLiteError) {
            for write in batch { answers.append(try write.run(on: self)) }
        } catch {
            throw .write(error)
        }
        return answers
    }

    private func commitTransaction() throws(Failure) {
        do throws(SQLiteError) {
            if let error = beforeCommit() { throw error }
            try tables.commitTransaction()
        } catch {
            throw .transaction(error)
        }
    }

    /// Forgets some idempotency keys that are too old; how many.
    func prune(at time: Int64, atMost limit: Int) throws(SQLiteError) -> Int {
        try attempts.prune(at: time, atMost: Int64(limit))
        return tables.connection.changes
    }

    /// Brings the log into the database and cuts it; whether that was possible.
    func checkpoint() -> Bool {
        let busy = try? tables.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)")
        return busy == 0
    }
}
