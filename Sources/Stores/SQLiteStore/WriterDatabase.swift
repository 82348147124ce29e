import Basics
import SQLite
import StoreEngine
import Tasks

/// The connection and the statements of the writing thread.
struct WriterDatabase: ~Copyable {
    let idempotency: IdempotencyStatements
    let statements: WriteStatements
    /// The memory of the answers to lists of changes.
    let answers: AnswerMemory
    private let beforeCommit: @Sendable () -> SQLiteError?

    /// Takes the connection over; the closure can make commits fail, for tests.
    static func open(
        on connection: consuming Connection, answers: AnswerMemory,
        beforeCommit: @escaping @Sendable () -> SQLiteError?
    ) throws(SQLiteError) -> WriterDatabase {
        let idempotency = try IdempotencyStatements.compiled(on: connection)
        return WriterDatabase(
            idempotency: idempotency, statements: try WriteStatements.compiled(on: connection),
            answers: answers, beforeCommit: beforeCommit)
    }

    /// Why a transaction failed.
    enum Failure: Error {
        /// One of its writes failed; the others may succeed without it.
        case write(SQLiteError)
        /// The transaction could not begin or commit.
        case transaction(SQLiteError)
    }

    /// Runs writes in one transaction; after a failure none of them has an effect.
    func commit(
        _ batch: [Job]
    ) throws(Failure) -> [(job: Job, verdict: Verdict)] {
        try rethrowing(as: Failure.transaction) { () throws(SQLiteError) in try statements.beginTransaction() }
        do throws(Failure) {
            let verdicts = try rethrowing(as: Failure.write) { () throws(SQLiteError) in try run(batch) }
            try rethrowing(as: Failure.transaction) { () throws(SQLiteError) in try commitTransaction() }
            return verdicts
        } catch {
            statements.connection.rollBack()
            throw error
        }
    }

    private func run(
        _ batch: [Job]
    ) throws(SQLiteError) -> [(job: Job, verdict: Verdict)] {
        var verdicts: [(job: Job, verdict: Verdict)] = []
        verdicts.reserveCapacity(batch.count)
        for job in batch {
            let write = job.work as? SQLiteWrite
            verdicts.append((job, try write?.run(self) ?? .refuse(.broken(reason: "no write of SQLite"))))
        }
        return verdicts
    }

    private func commitTransaction() throws(SQLiteError) {
        if let error = beforeCommit() { throw error }
        try statements.commitTransaction()
    }

    /// Removes at most this many expired idempotency keys; returns how many it removed.
    func prune(at time: Int64, atMost limit: Int) throws(SQLiteError) -> Int {
        try idempotency.prune(at: time, atMost: Int64(limit))
        return statements.connection.changes
    }

    /// Moves the log into the database and truncates it; returns whether that was possible.
    func checkpoint() -> Bool {
        let busy = try? statements.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)")
        return busy == 0
    }
}
