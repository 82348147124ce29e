import Platform
import SQLite
import StoreEngine
import Tasks

/// The session of the thread that writes: while one transaction is being written to the disk, the writes of the next one
/// arrive.
final class SQLiteWriter: StoreSession {
    /// The parts of the store that the writer uses.
    struct Surroundings: Sendable {
        let options: SQLiteStoreOptions
        let lock: SQLiteFileLock
        let health: SQLiteHealth
        let cache: ListCache
        let checkpointer: Checkpointer
    }

    private let database: WriterDatabase
    private let parts: Surroundings
    private let time = SystemTime()
    private var order = WriteOrder()
    /// Monotonic nanoseconds.
    private var nextMaintenance: UInt64 = 0
    /// Whether there may be more expired idempotency keys than were removed last.
    private var mustPrune = false

    init(_ database: consuming WriterDatabase, _ parts: Surroundings) {
        self.database = database
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
        if mustPrune { inTransaction { prune() } }
        if mustPrune { return 0 }
        return order.nextLong > now ? min(order.nextLong, nextMaintenance) : nextMaintenance
    }

    func takeWrites(
        of waiting: inout [Job], except busy: Set<Owner>, at now: UInt64
    ) -> [Job] {
        order.next(of: &waiting, atMost: parts.options.batch, parts.checkpointer.room, at: now)
    }

    func run(_ jobs: [Job]) -> BatchResult {
        defer { order.noteEnd(at: time.monotonicNanoseconds) }
        return inTransaction { commit(jobs) }
    }

    private func inTransaction<Result>(_ body: () -> Result) -> Result {
        parts.checkpointer.beginTransaction()
        defer { parts.checkpointer.endTransaction(logLength: database.statements.connection.logLength) }
        return body()
    }

    private func commit(_ jobs: [Job]) -> BatchResult {
        if parts.lock.isUnlinked { noteDisplacement() }
        if let error = parts.health.refusal { return BatchResult(refusing: jobs, error) }
        do throws(WriterDatabase.Failure) {
            var result = BatchResult(try database.commit(jobs))
            result.isCommitted = true
            result.hasWritten = result.verdicts.contains { if case .answer(_?, _) = $1 { true } else { false } }
            return result
        } catch {
            let (failure, error): (BatchFailure, SQLiteError) =
                switch error {
                case .write(let error): (.oneJob, error)
                case .transaction(let error): (.final, error)
                }
            var result = BatchResult(failed: jobs, failure, parts.health.record(error))
            if result.verdicts.contains(where: { $1.isFinal }) {
                result.failure = ReportedFailure(
                    code: String(error.code), reason: error.description, isFull: error.kind == .full)
            }
            return result
        }
    }

    /// Removes expired idempotency keys, twice as many as a transaction of writes can add.
    ///
    /// Run once before each transaction while there are more, it keeps up with any load, and delays no write for long.
    private func prune() {
        let limit = 2 * parts.options.batch
        // The next write reports the same failure.
        let count = (try? database.prune(at: parts.options.time.wallMilliseconds, atMost: limit)) ?? 0
        mustPrune = count == limit
    }

    /// Cached lists are as lost as the file: they are not answered either.
    private func noteDisplacement() {
        if parts.health.note(displacement: parts.lock.displacement) { parts.cache.removeAll() }
    }

    /// Moves the log into the database.
    func end() { parts.options.observer(.closed(checkpointed: database.checkpoint())) }
}
