import Platform
import SQLite
import Tasks

/// The writing thread: while one transaction is on its way to the disk, the next one gathers.
struct WriterLoop: ~Copyable {
    private let database: WriterDatabase
    private let file: DatabaseFile
    private let writer: Writer
    private let time = SystemTime()
    private var nextCare: UInt64 = 0
    /// More idempotency keys may be too old than were removed last.
    private var mustPrune = false
    private var dataVersion: Int64?
    /// The code of the last failure, until something was written again.
    private var failure: Int32?
    private var isFull = false

    init(_ database: consuming WriterDatabase, in file: DatabaseFile, for writer: Writer) {
        self.database = database
        self.file = file
        self.writer = writer
    }

    /// Works until the queue is closed and empty; whether the log went into the database then.
    consuming func run() -> Bool {
        while true {
            takeCare()
            switch writer.queue.take(
                atMost: writer.batchLimit, untilMonotonicNanoseconds: mustPrune ? 0 : nextCare)
            {
            case .jobs(let batch): commit(batch)
            case .nothing: break
            case .end: return database.checkpoint()
            }
            if mustPrune { prune() }
        }
    }

    private mutating func commit(_ batch: [any PendingWrite]) {
        if file.isNameless { noteDisplacement() }
        if let error = writer.health.refusal { return batch.forEach { $0.refuse(error) } }
        do throws(WriterDatabase.Failure) {
            let answers = try database.commit(batch)
            noteSuccess(answers)
            noteForeignChanges()
            // Every owner is dropped before the first answer: whoever is told of a change finds it.
            for answer in answers { answer.changed.map(writer.memory.drop) }
            for answer in answers { answer.give() }
        } catch {
            fail(batch, error)
        }
    }

    private mutating func fail(_ batch: [any PendingWrite], _ failure: WriterDatabase.Failure) {
        switch failure {
        case .write where batch.count > 1:
            // One of them is to blame, and only that one: each in a transaction of its own.
            for write in batch { commit([write]) }
        case .write(let error), .transaction(let error):
            note(error)
            let error = writer.health.judge(error)
            for write in batch { write.refuse(error) }
        }
    }

    private mutating func noteSuccess(_ answers: [WriteAnswer]) {
        writer.count { counts in
            counts.commits += 1
            counts.writes += answers.count
        }
        // A transaction that wrote nothing needs no room, and shows nothing.
        guard failure != nil, answers.contains(where: { $0.changed != nil }) else { return }
        writer.observer(.recovered)
        (failure, isFull) = (nil, false)
    }

    private mutating func note(_ error: SQLiteError) {
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

    /// Once a second: sees what others did, also to the file itself, and begins to forget old idempotency keys.
    private mutating func takeCare() {
        let now = time.monotonicNanoseconds
        guard now >= nextCare else { return }
        nextCare = now + 1_000_000_000
        noteDisplacement()
        noteForeignChanges()
        mustPrune = true
    }

    /// Forgets idempotency keys that are too old, twice as many as a transaction of writes can add: so, one after each
    /// transaction while there are more, it keeps up with any load, and no write waits for a long one.
    private mutating func prune() {
        let limit = 2 * writer.batchLimit
        // A failure is met again by the next write.
        let count = (try? database.prune(at: writer.time.wallMilliseconds, atMost: limit)) ?? 0
        mustPrune = count == limit
    }

    /// What is in memory is as lost as the file: it is not answered either.
    private func noteDisplacement() {
        if writer.health.note(displacement: file.displacement) { writer.memory.dropAll() }
    }

    /// An import beside a running server is the only other writer; the lists that it changed are not known.
    private mutating func noteForeignChanges() {
        guard let version = try? database.tables.versionOfData() else { return }
        defer { dataVersion = version }
        guard let dataVersion, dataVersion != version else { return }
        writer.health.forgetDamage()
        writer.memory.dropAll()
        writer.observer(.changedByOthers)
    }
}
