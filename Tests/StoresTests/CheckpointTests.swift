import Platform
import SQLite
import Support
import Tasks
import Testing

@testable import SQLiteStore

@Suite("The log of a SQLite store is copied into the database while the writer goes on")
struct CheckpointTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("tasks.db")
    }

    /// Adds tasks of 4000 bytes, each to the list of an owner of its own, 64 at a time.
    private func add(_ count: Int, to store: SQLiteTaskStore, from first: Int = 0) async throws {
        let text = String(repeating: "x", count: 4000)
        try await atOnce(first..<first + count, most: 64) { try await store.added(text, of: Owner("owner-\($0)")) }
    }

    private func megabytes(_ suffix: String) throws -> Int { (try File.size(path + suffix) ?? 0) >> 20 }

    @Test func `The log begins anew under load, and holds a part of what was written`() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        // About 12 pages each: 240 MB in the log, if it never began anew.
        try await add(5000, to: store)
        #expect(try megabytes("-wal") < 80)
        #expect(try megabytes("") > 4)
    }

    @Test
    func `A reader of an old state delays the copy, not the writes, and the copy continues after it`() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        try await add(10, to: store)
        let reader = try Connection(path: path, mode: .readOnly)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM tasks") == 10)
        try await add(1000, to: store, from: 10)
        #expect(try reader.integer("SELECT count(*) FROM tasks") == 10)
        let before = try megabytes("")
        reader.rollBack()
        #expect(before < 2)
        // A checkpoint that began beside the reader copies nothing, and the next one begins after enough new pages.
        for first in stride(from: 1010, to: 20_010, by: 1000) where try megabytes("") <= 4 {
            try await add(1000, to: store, from: first)
        }
        #expect(await eventually { (try? megabytes("")) ?? 0 > 4 })
    }
}
