import Platform
import SQLite
import SQLiteStore
import Support
import Tasks
import Testing

@Suite("A pause of the cache of a SQLite store", .timeLimit(.minutes(15)))
struct CachePauseTests {
    private let alice = Owner("alice")
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file("tasks.db") }

    /// Completes every task, as another program.
    private func completeAll(revision: Int) throws {
        let other = try Connection(path: path, mode: .readWrite)
        other.setBusyTimeout(milliseconds: 120_000)
        try other.execute("UPDATE tasks SET completed = 1, revision = \(revision)")
    }

    @Test("While it lasts, every list has what was committed before it was asked for; then lists are cached again")
    func running() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        var item = try await store.added("x", of: alice)
        #expect(try await store.lists([item], of: alice))
        do {
            let pause = try CachePause.begin(on: SQLiteFile(path), withinSeconds: 120)
            let hasServer = pause.hasServer
            #expect(hasServer)
            for revision in 2...50 {
                try completeAll(revision: revision)
                (item.completed, item.revision) = (true, Int64(revision))
                #expect(store.cachedList(of: alice) == nil)
                #expect(try await store.lists([item], of: alice), "\(revision)")
            }
            #expect(store.statistics.lists == 0)
            _ = consume pause
        }
        try await eventually("lists are cached again") {
            _ = try await store.list(.all, of: alice)
            return store.cachedList(of: alice) != nil
        }
        #expect(try await store.lists([item], of: alice))
    }

    @Test("A store that is opened during a pause caches nothing from its start")
    func opened() async throws {
        let first = try SQLiteTaskStore.open(path: path)
        let item = try await first.added("x", of: alice)
        let pause = try CachePause.begin(on: SQLiteFile(path), withinSeconds: 120)
        first.close()
        let second = try SQLiteTaskStore.open(path: path)
        defer { second.close() }
        #expect(try await second.lists([item], of: alice))
        #expect(second.cachedList(of: alice) == nil)
        _ = consume pause
    }

    @Test("Without a server it keeps others away, and two pauses exclude each other")
    func alone() throws {
        try SQLiteTaskStore.open(path: path).close()
        do {
            let pause = try CachePause.begin(on: SQLiteFile(path), withinSeconds: 120)
            let hasServer = pause.hasServer
            #expect(!hasServer)
            #expect(throws: StoreOpenError.locked(path: SQLiteFile(path).path)) { try SQLiteTaskStore.open(path: path) }
            #expect(throws: CachePause.Failure.taken) { _ = try CachePause.begin(on: SQLiteFile(path)) }
            _ = consume pause
        }
        try SQLiteTaskStore.open(path: path).close()
    }

    @Test("A server that does not confirm is not taken for one that has no cache")
    func unconfirmed() throws {
        let server = try FileLock(path: "\(path).lock")
        #expect(throws: CachePause.Failure.unconfirmed) {
            _ = try CachePause.begin(on: SQLiteFile(path), withinSeconds: 1)
        }
        _ = consume server
    }

    @Test("A pause that follows another at once is confirmed as well")
    func following() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        _ = try await store.added("x", of: alice)
        for revision in 2...20 {
            let pause = try CachePause.begin(on: SQLiteFile(path), withinSeconds: 120)
            _ = try await store.list(.all, of: alice)
            try completeAll(revision: revision)
            let list = try await store.list(.all, of: alice)
            #expect(try await store.find(1, of: alice).map { TaskList(rendering: [$0]) } == list)
            _ = consume pause
        }
    }
}
