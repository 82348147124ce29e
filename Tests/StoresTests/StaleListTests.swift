import SQLiteStore
import Platform
import SQLite
import Support
import Tasks
import Testing

@Suite("A SQLite store never remembers an old list")
struct StaleListTests {
    private let alice = Owner("alice")

    @Test("not when a write comes between the reading and the keeping")
    func race() async throws {
        let folder = try TemporaryFolder()
        let gate = Gate()
        var options = SQLiteStoreOptions()
        options.afterRead = { gate.pass() }
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"), options: options)
        defer { store.close() }
        let first = try await store.added("first", of: alice)
        async let early = store.list(.all, of: alice)
        await gate.waitForArrival()
        // The reader holds a list of one task, and stands still; this is committed, dropped and answered meanwhile.
        let second = try await store.added("second", of: alice)
        gate.open()
        #expect(try await early == TaskList(rendering: [first]))
        #expect(try await store.lists([first, second], of: alice))
        #expect(try await store.lists([first, second], of: alice))
        #expect(store.statistics.listHits == 1)
    }

    @Test("not when another program wrote")
    func foreignWrite() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tasks.db")
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        let item = try await store.added("first", of: alice)
        #expect(try await store.lists([item], of: alice))
        let other = try Connection(path: path, mode: .readWrite)
        other.setBusyTimeout(milliseconds: 10_000)
        try other.execute("UPDATE tasks SET completed = 1, revision = 2")
        // The next write of anybody notices; without one it takes a second.
        _ = try await store.added("x", of: Owner("bob"))
        var changed = item
        (changed.completed, changed.revision) = (true, 2)
        #expect(try await store.lists([changed], of: alice))
    }

    @Test("answers the second time from memory, without a reader")
    func hits() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        for _ in 0..<5 { #expect(try await store.lists([item], of: alice)) }
        let statistics = store.statistics
        #expect((statistics.listHits, statistics.listMisses, statistics.lists) == (4, 1, 1))
        #expect(statistics.listBytes > 250)
        #expect((statistics.commits, statistics.writes) == (1, 1))
    }

    @Test("has at hand what was read, and nothing behind a write")
    func atHand() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        defer { store.close() }
        #expect(store.listAtHand(of: alice) == nil)
        let first = try await store.added("first", of: alice)
        #expect(store.listAtHand(of: alice) == nil)
        #expect(try await store.lists([first], of: alice))
        #expect(store.listAtHand(of: alice) == TaskList(rendering: [first]))
        #expect(store.listAtHand(of: Owner("bob")) == nil)
        _ = try await store.added("second", of: alice)
        #expect(store.listAtHand(of: alice) == nil)
    }
}
