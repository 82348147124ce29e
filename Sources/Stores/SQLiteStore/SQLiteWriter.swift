import Platform
import SQLite
import StoreEngine
import Tasks

/// The state that the threads of a store share.
struct SQLiteEnvironment: Sendable {
    let options: SQLiteStoreOptions
    let health: SQLiteHealth
    let cache: ListCache

    /// The time to empty the log, if a reason for that comes up now.
    fileprivate var nextEmptying: UInt64 {
        SystemTime().monotonicNanoseconds + options.logEmptyingMilliseconds * 1_000_000
    }
}

/// The session of the thread that writes.
final class SQLiteWriter: StoreSession {
    private var transaction: SQLiteTransaction
    private let lock: SQLiteFileLock
    private let environment: SQLiteEnvironment
    /// The time of the next look at the files, in monotonic nanoseconds.
    private var nextMaintenance: UInt64 = 0
    /// Whether to prune before the next batch: a second has passed, after a failure a minute, or the last pruning has
    /// reached its limit.
    private var mustPrune = false
    /// The monotonic time until which a pruning that failed is not repeated, in nanoseconds.
    private var nextPruning: UInt64 = 0
    /// The time to empty the log, because it may have texts of a deleted owner; `.max` if it has none.
    private var nextEmptying: UInt64
    private var copies: LogCopies

    init(_ transaction: consuming SQLiteTransaction, _ lock: SQLiteFileLock, _ environment: SQLiteEnvironment) {
        self.transaction = transaction
        self.lock = lock
        self.environment = environment
        copies = LogCopies(observer: environment.options.observer)
        // A server that crashed may have left a log with texts of a deleted owner.
        nextEmptying = environment.nextEmptying
    }

    /// Once a second looks at the files and prunes; copies the log if it is long.
    func maintain(at now: UInt64) -> UInt64 {
        if now >= nextMaintenance {
            nextMaintenance = now + 1_000_000_000
            noteDisplacement()
            mustPrune = now >= nextPruning
        }
        copies.copy(at: transaction.connection.logLength) { patience throws(SQLiteError) in
            try transaction.connection.checkpoint(waiting: patience)
        }
        if mustPrune {
            prune(at: now)
            if mustPrune { return 0 }
        }
        if transaction.hasDeletedOwner {
            transaction.hasDeletedOwner = false
            nextEmptying = min(nextEmptying, environment.nextEmptying)
        }
        if now >= nextEmptying {
            // All of the log is copied into the database and cut, unless a reader is in the way.
            let isEmptied = copies.isDone { () throws(SQLiteError) in
                try transaction.connection.checkpoint(waiting: 0, cutting: true)
            }
            nextEmptying = isEmptied ? .max : now + 1_000_000_000
        }
        return min(nextMaintenance, nextEmptying)
    }

    /// Runs writes in one transaction; after a failure none of them has an effect.
    func run(_ jobs: [Job]) -> BatchResult {
        if lock.isUnlinked { noteDisplacement() }
        if let error = environment.health.refusal { return BatchResult(jobs) { _ in .refuse(error) } }
        // The kind of an error: only while the writes run, the others may succeed without the one that failed.
        var failure = BatchFailure.final
        var result = BatchResult([])
        do throws(SQLiteError) {
            try transaction.begin.run()
            failure = .oneJob
            for job in jobs { try run(job, into: &result) }
            failure = .final
            // Once a commit can be seen, even before it is answered, no older list may be answered.
            environment.cache.beginChange(by: result.changes)
            if let error = environment.options.beforeCommit() { throw error }
            try transaction.commit.run()
            environment.options.afterCommit()
            result.transaction = .committed
            return result
        } catch {
            transaction.connection.rollBack()
            environment.cache.endChange(by: result.changes)
            return BatchResult(failed: jobs, failure, environment.health.record(error), error.report)
        }
    }

    private func run(_ job: Job, into result: inout BatchResult) throws(SQLiteError) {
        guard let write = job.work as? SQLiteWrite else { return }
        let (change, answer) = try write.run(&transaction)
        result.verdicts.append((job, .answer(answer)))
        result.note(change)
    }

    /// Forgets expired idempotency keys, removed tasks and deleted owners: twice as many as a transaction of writes can
    /// add, so that pruning keeps up.
    private func prune(at monotonic: UInt64) {
        let (limit, now) = (Int64(2 * Job.mostWeight), environment.options.time.wallMilliseconds)
        // With a time-out, callers would wait for the lock of another program.
        transaction.connection.setBusyTimeout(milliseconds: 0)
        defer { transaction.connection.setBusyTimeout(milliseconds: SQLiteFile.busyMilliseconds) }
        do throws(SQLiteError) {
            let keys = try transaction.pruneKeys(at: now, atMost: limit)
            try transaction.pruneOwners(at: now, atMost: limit)
            let tasks = try transaction.forgetRemovedTasks(
                until: now - environment.options.removedTasksKept, atMost: limit)
            mustPrune = keys == limit || tasks == limit
        } catch {
            mustPrune = false
            // Another program that holds the lock is soon done.
            guard error.kind != .busy else { return }
            nextPruning = monotonic + 60_000_000_000
            environment.options.observer(.pruningFailed(reason: error.description))
        }
    }

    /// Notes where the files are; after a loss or a return no cached list is answered.
    private func noteDisplacement() {
        if environment.health.note(displacement: lock.displacement) { environment.cache.removeAll() }
    }

    /// Moves the log into the database, if that is possible.
    func end() {
        let isEmpty = (try? transaction.connection.checkpoint(cutting: true)) ?? false
        environment.options.observer(.closed(checkpointed: isEmpty))
    }
}

/// A write of this store: it runs in the open transaction, and its caller may be answered only after the commit.
final class SQLiteWrite: JobWork {
    /// The change of a write, nil for a probe, which leaves nothing; and the closure that answers its caller.
    typealias Done = (change: OwnerChange?, answer: @Sendable () -> Void)

    let run: @Sendable (inout SQLiteTransaction) throws(SQLiteError) -> Done

    init(_ run: @escaping @Sendable (inout SQLiteTransaction) throws(SQLiteError) -> Done) { self.run = run }
}
