import SQLiteStore
import Platform
import Support
import Tasks
import Testing

@Suite("A SQLite store never answers an outdated list", .timeLimit(.minutes(15)))
struct CachedListTests {
    private let alice = Owner("alice")

    @Test func `A write between the read and the caching of a list keeps it out of the cache`() async throws {
        let folder = try TemporaryFolder()
        let breakpoint = Breakpoint()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db")) { $0.afterRead = { breakpoint.stop() } }
        defer { store.close() }
        let first = try await store.added("first", of: alice)
        async let early = store.list(.all, of: alice)
        await breakpoint.waitUntilReached()
        // The reader has a list of one task, and is stopped; meanwhile this is committed and answered.
        let second = try await store.added("second", of: alice)
        breakpoint.resume()
        #expect(try await early == TaskList(rendering: [first]))
        #expect(try await store.lists([first, second], of: alice))
        #expect(try await store.lists([first, second], of: alice))
        #expect(store.statistics.listHits == 1)
    }

    @Test func `The second list comes from the cache, without a reader`() async throws {
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

    @Test func `A list is cached after it was read, and not after a write`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        defer { store.close() }
        #expect(store.cachedList(of: alice) == nil)
        let first = try await store.added("first", of: alice)
        #expect(store.cachedList(of: alice) == nil)
        #expect(try await store.lists([first], of: alice))
        #expect(store.cachedList(of: alice) == TaskList(rendering: [first]))
        #expect(store.cachedList(of: Owner("bob")) == nil)
        _ = try await store.added("second", of: alice)
        #expect(store.cachedList(of: alice) == nil)
    }
}
