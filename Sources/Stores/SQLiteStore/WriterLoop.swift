import Platform
import SQLite
import StoreEngine
import Tasks

/// The writing thread: while one transaction is being written to the disk, the writes of the next one arrive.
struct WriterLoop: ~Copyable {
    private let database: WriterDatabase
    private let lock: SQLiteFileLock
    private let writer: Writer
    private let time = SystemTime()
    /// Monotonic nanoseconds.
    private var nextMaintenance: UInt64 = 0
    /// There may be more expired idempotency keys than were removed last.
    private var mustPrune = false
    private var order = WriteOrder()
    /// The code of the last failure, until something was written again.
    private var failure: Int32?
    private var isFull = false

    init(_ database: consuming WriterDatabase, lock: SQLiteFileLock, for writer: Writer) {
        self.database = database
        self.lock = lock
        self.writer = writer
    }

    /// Works until the queue is closed, and ends the database and its lock, in this order.
    consuming func work() {
        let lock = lock
        let observer = writer.observer
        let isCheckpointed = run()
        // The connection is closed by now; only then may another server open the file.
        _ = consume lock
        observer(.closed(checkpointed: isCheckpointed))
    }

    /// Works until the queue is closed and empty; returns whether the whole log went into the database then.
    private consuming func run() -> Bool {
        while true {
            runMaintenance()
            writer.checkpointer.pauseIfWanted()
            let taken = take()
            writer.checkpointer.beginTransaction()
            switch taken {
            case .jobs(let batch): commit(batch)
            case .nothing: break
            case .end: return database.checkpoint()
            }
            if mustPrune { prune() }
            order.noteEnd(at: time.monotonicNanoseconds)
            writer.checkpointer.endTransaction(logLength: database.statements.connection.logLength)
        }
    }

    /// What the next transaction has to do; waits for it until something else is to be done.
    private mutating func take() -> WorkQueue<any QueuedWrite>.Taken {
        let (writer, time) = (writer, time)
        let now = time.monotonicNanoseconds
        let wake = order.nextLong > now ? min(order.nextLong, nextMaintenance) : nextMaintenance
        return writer.queue.take(untilMonotonicNanoseconds: mustPrune ? 0 : wake) { waiting in
            order.next(of: &waiting, atMost: writer.rowLimit, writer.checkpointer.room, at: time.monotonicNanoseconds)
        }
    }

    private mutating func commit(_ batch: [any QueuedWrite]) {
        if lock.isUnlinked { noteDisplacement() }
        if let error = writer.health.refusal { return batch.forEach { $0.refuse(error) } }
        do throws(WriterDatabase.Failure) {
            let results = try database.commit(batch)
            noteSuccess(results)
            // All changed lists leave the cache before the first answer: a caller who has one reads the new list.
            for owner in Set(results.compactMap(\.changedOwner)) { writer.cache.remove(owner) }
            for result in results { result.answer() }
        } catch {
            fail(batch, error)
        }
    }

    private mutating func fail(_ batch: [any QueuedWrite], _ failure: WriterDatabase.Failure) {
        switch failure {
        case .write where batch.count > 1:
            // Only one of them is the cause: each gets a transaction of its own.
            for write in batch { commit([write]) }
        case .write(let error), .transaction(let error):
            noteFailure(error)
            let error = writer.health.record(error)
            for write in batch { write.refuse(error) }
        }
    }

    private mutating func noteSuccess(_ results: [WriteResult]) {
        writer.count { counts in
            counts.commits += 1
            counts.writes += results.count
        }
        // A transaction that wrote nothing needs no room on the disk, and proves nothing.
        guard failure != nil, results.contains(where: { $0.changedOwner != nil }) else { return }
        writer.observer(.recovered)
        (failure, isFull) = (nil, false)
    }

    private mutating func noteFailure(_ error: SQLiteError) {
        writer.count { $0.failedCommits += 1 }
        // Not each of them: a log that grows with every request would keep a full disk full.
        defer { failure = error.code }
        guard error.kind == .full else {
            if failure != error.code { writer.observer(.commitFailed(reason: error.description)) }
            return
        }
        if !isFull { writer.observer(.diskFull(reason: error.description)) }
        isFull = true
    }

    /// Refuses writes that have waited for too long, looks at the files, and lets expired keys be removed; once a second.
    private mutating func runMaintenance() {
        let now = time.monotonicNanoseconds
        guard now >= nextMaintenance else { return }
        nextMaintenance = now + 1_000_000_000
        writer.refuseOverdue()
        noteDisplacement()
        mustPrune = true
    }

    /// Removes expired idempotency keys, twice as many as a transaction of writes can add.
    ///
    /// Run once after each transaction while there are more, it keeps up with any load, and delays no write for long.
    private mutating func prune() {
        let limit = 2 * writer.rowLimit
        // The next write reports the same failure.
        let count = (try? database.prune(at: writer.time.wallMilliseconds, atMost: limit)) ?? 0
        mustPrune = count == limit
    }

    /// Cached lists are as lost as the file: they are not answered either.
    private func noteDisplacement() {
        if writer.health.note(displacement: lock.displacement) { writer.cache.removeAll() }
    }
}
