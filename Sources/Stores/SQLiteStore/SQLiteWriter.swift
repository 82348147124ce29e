import Platform
import SQLite
import StoreEngine
import Tasks

/// The session of the thread that writes.
final class SQLiteWriter: StoreSession {
    /// The parts of the store that the writer uses.
    struct Parts: Sendable {
        let options: SQLiteStoreOptions
        let lock: SQLiteFileLock
        let health: SQLiteHealth
        let cache: ListCache
        let checkpointer: Checkpointer
    }

    private let statements: WriteStatements
    private let parts: Parts
    private let time = SystemTime()
    /// Monotonic nanoseconds.
    private var nextMaintenance: UInt64 = 0
    /// Whether there may be more expired idempotency keys than were removed last.
    private var mustPrune = false

    init(_ statements: consuming WriteStatements, _ parts: Parts) {
        self.statements = statements
        self.parts = parts
    }

    /// Looks at the files and for expired keys once a second, and leaves the database to the checkpointer for a moment.
    func maintain(at now: UInt64) -> UInt64 {
        if now >= nextMaintenance {
            nextMaintenance = now + 1_000_000_000
            noteDisplacement()
            mustPrune = true
        }
        parts.checkpointer.pauseIfWanted()
        if mustPrune {
            besideCheckpointer { prune() }
            if mustPrune { return 0 }
        }
        return nextMaintenance
    }

    var room: WriteRoom { parts.checkpointer.room }

    func run(_ jobs: [Job]) -> BatchResult {
        besideCheckpointer { commit(jobs) }
    }

    /// Runs a transaction of which the checkpointer knows.
    private func besideCheckpointer<Result>(_ body: () -> Result) -> Result {
        parts.checkpointer.beginTransaction()
        defer { parts.checkpointer.endTransaction(logLength: statements.connection.logLength) }
        return body()
    }

    /// Runs writes in one transaction; after a failure none of them has an effect.
    private func commit(_ jobs: [Job]) -> BatchResult {
        if parts.lock.isUnlinked { noteDisplacement() }
        if let error = parts.health.refusal { return BatchResult(refusing: jobs, error) }
        // What an error means: where one write fails, the others may succeed without it.
        var failure = BatchFailure.final
        do throws(SQLiteError) {
            try statements.begin.run()
            failure = .oneJob
            var result = BatchResult(try jobs.map { job throws(SQLiteError) in (job, try verdict(on: job)) })
            failure = .final
            if let error = parts.options.beforeCommit() { throw error }
            try statements.commit.run()
            result.transaction = .committed
            return result
        } catch {
            statements.connection.rollBack()
            return BatchResult(failed: jobs, failure, parts.health.record(error), error.report)
        }
    }

    private func verdict(on job: Job) throws(SQLiteError) -> Verdict {
        guard let write = job.work as? SQLiteWrite else { return .refuse(.broken(reason: "no write of SQLite")) }
        return try write.run(statements)
    }

    /// Removes expired idempotency keys, twice as many as a transaction of writes can add, so that it keeps up.
    private func prune() {
        let limit = 2 * Job.mostWeight
        // The next write reports the same failure.
        let isDone: Void? = try? statements.pruneKeys(at: parts.options.time.wallMilliseconds, atMost: Int64(limit))
        mustPrune = isDone != nil && statements.connection.changes == limit
    }

    /// Cached lists are as lost as the file: they are not answered either.
    private func noteDisplacement() {
        if parts.health.note(displacement: parts.lock.displacement) { parts.cache.removeAll() }
    }

    /// Moves the log into the database, if that is possible.
    func end() {
        let busy = try? statements.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)")
        parts.options.observer(.closed(checkpointed: busy == 0))
    }
}
