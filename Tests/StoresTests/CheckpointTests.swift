import Platform
import SQLite
import Support
import Tasks
import Testing

@testable import SQLiteStore

@Suite("The log of a SQLite store is copied into the database between two transactions")
struct CheckpointTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("tasks.db")
    }

    /// Adds tasks of 4000 bytes, each to the list of an owner of its own, 64 at a time: about 3 pages each in the log.
    private func add(_ count: Int, to store: SQLiteTaskStore, from first: Int = 0) async throws {
        let text = String(repeating: "x", count: 4000)
        try await atOnce(first..<first + count, most: 64) { try await store.added(text, of: Owner("owner-\($0)")) }
    }

    private func megabytes(_ suffix: String) throws -> Int { (try File.size(path + suffix) ?? 0) >> 20 }

    @Test func `The log begins anew under load, and holds a part of what was written`() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        // 64 MiB in the log, if it never began anew.
        try await add(5000, to: store)
        #expect(try megabytes("-wal") < 32)
        #expect(try megabytes("") > 4)
    }

    @Test func `A copy can wait for a reader of an older state, after whom the log begins anew`() throws {
        let writer = try Connection(path: path, mode: .readWriteCreate)
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE notes(text)")
        writer.followLog()
        let reader = TransferBox(try Connection(path: path, mode: .readOnly))
        let (isReading, mayLeave) = (Wakeup(), Wakeup())
        let thread = try NamedThread.start("reader") {
            guard let reader = reader.take() else { return }
            try? reader.execute("BEGIN; SELECT * FROM notes")
            isReading.wake()
            mayLeave.wait()
            reader.rollBack()
        }
        isReading.wait()
        for _ in 0..<2 {
            try writer.execute("INSERT INTO notes VALUES ('one more')")
            #expect(try !writer.checkpoint(waiting: 0))
        }
        let length = writer.logLength
        #expect(length > 1)
        mayLeave.wake()
        #expect(try writer.checkpoint(waiting: 60_000))
        #expect(writer.logLength == 0)
        try writer.execute("INSERT INTO notes VALUES ('anew')")
        #expect(writer.logLength < length)
        thread.join()
    }

    @Test
    func `A reader of an old state delays the copy, not the writes, and the copy continues after it`() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        try await add(10, to: store)
        let reader = try Connection(path: path, mode: .readOnly)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM tasks") == 10)
        try await add(1500, to: store, from: 10)
        #expect(try reader.integer("SELECT count(*) FROM tasks") == 10)
        let before = try megabytes("")
        reader.rollBack()
        #expect(before < 2)
        // The next copy begins after enough new pages, of which large transactions leave fewer.
        var count = 1510
        try await eventually("all is copied") {
            try await add(500, to: store, from: count)
            count += 500
            return try megabytes("") > 8
        }
    }
}

@Suite("When the log is copied, and how long writes wait for readers then")
struct LogCopiesTests {
    private let events = Recorded<StoreEvent>()

    /// The patience of the copies after transactions that leave so many pages in the log, with a reader in the way.
    private func copies(_ lengths: [Int], _ checkpoint: (Int) throws(SQLiteError) -> Bool) -> [Int: Int32] {
        var log = LogCopies(observer: events.append)
        var found: [Int: Int32] = [:]
        for length in lengths {
            log.copy(at: length) { patience throws(SQLiteError) in
                found[length] = patience
                return try checkpoint(length)
            }
        }
        return found
    }

    @Test func `Each four thousand pages, once, and without waiting where no reader was in the way`() {
        #expect(copies([3999, 4000, 0, 3999, 0, 8000, 0]) { _ in true } == [4000: 0, 8000: 250])
    }

    @Test func `Writes wait for a reader at twice the pages at which they waited last, until the log begins anew`() {
        let lengths = Array(stride(from: 1000, through: 33_000, by: 1000))
        let found = copies(lengths) { _ in false }
        #expect(found.keys.sorted() == Array(stride(from: 4000, through: 32_000, by: 4000)))
        #expect(found.filter { $0.value > 0 } == [8000: 250, 16_000: 250, 32_000: 250])
        // Where the reader has left, a commit begins the log anew by itself.
        let anew = copies([4000, 8000, 12_000, 500, 4500, 8500]) { _ in false }
        #expect(anew == [4000: 0, 8000: 250, 12_000: 0, 4500: 0, 8500: 250])
    }

    @Test func `A log that cannot be emptied is reported once, as one that cannot be copied`() {
        var log = LogCopies(observer: events.append)
        let failure = SQLiteError(code: 10, message: "disk I/O error")
        for _ in 0..<2 { #expect(!log.isDone { () throws(SQLiteError) in throw failure }) }
        log.copy(at: 4000) { _ throws(SQLiteError) in throw failure }
        #expect(!log.isDone { false } && log.isDone { true })
        #expect(!log.isDone { () throws(SQLiteError) in throw failure })
        #expect(events.all == Array(repeating: .checkpointFailed(reason: "disk I/O error (SQLite 10)"), count: 2))
    }

    @Test func `A failure is reported once, and again after a copy that was good`() {
        let found = copies([4000, 8000, 12_000, 0, 4500]) { length throws(SQLiteError) in
            guard length == 12_000 else { throw SQLiteError(code: 10, message: "disk I/O error") }
            return true
        }
        #expect(found.count == 4)
        #expect(events.all == Array(repeating: .checkpointFailed(reason: "disk I/O error (SQLite 10)"), count: 2))
    }
}
