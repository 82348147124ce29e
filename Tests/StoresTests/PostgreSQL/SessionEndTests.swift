import PostgreSQL
import PostgreSQLStore
import StoreEngine
import Support
import Tasks
import Testing

@Suite("A session that ends after the last result of an answer")
struct SessionEndTests {
    private let alice = Owner("alice")

    /// A store of few sessions, for at most eight callers at once.
    private func withStore(_ body: (PostgreSQLTaskStore, StoreProxy) async throws -> Void) async throws {
        let server = try PostgreSQLServer.started()
        let name = try server.newDatabaseName()
        let proxy = try StoreProxy(to: server.port)
        defer { proxy.close() }
        let store = try PostgreSQLTaskStore.open(proxy.address("\(name)")) {
            ($0.readers, $0.writers, $0.mostBytes) = (1, 1, 8 * Job.callBytes)
        }
        defer { store.close() }
        try await awaitStore(store)
        try await body(store, proxy)
    }

    /// The answer; nil where the outcome may be in doubt.
    private func answer<Answer: Sendable>(
        _ ask: () async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer? {
        do throws(StoreError) {
            return try await ask()
        } catch .unavailable {
            return nil
        }
    }

    @Test(arguments: [true, false])
    func `What was read is answered, and as many callers are taken as before`(isSaid: Bool) async throws {
        try await withStore { store, proxy in
            let item = try await store.added("x", of: alice)
            for _ in 0..<12 {
                proxy.set(.endBeforeReady(saying: isSaid))
                let list = try await answer { () throws(StoreError) in try await store.list(.all, of: alice) }
                #expect(list == nil || list == TaskList(rendering: [item]))
                proxy.set(.none)
                try await awaitStore(store)
            }
        }
    }

    @Test func `A call after the server has ended every idle session is answered by a new one`() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        // Nobody looks at the sessions while they are idle.
        let store = try PostgreSQLTaskStore.open(address) { $0.sleepMilliseconds = 3_600_000 }
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        let operators = try PostgreSQLDatabase(address).connect()
        for _ in 0..<4 {
            _ = try operators.run(
                """
                SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            #expect(try await store.find(item.id, of: alice) == item)
        }
    }

    @Test func `A ROLLBACK in the place of a COMMIT is no commit`() async throws {
        try await withStore { store, proxy in
            let before = store.statistics
            proxy.set(.rollBackForCommit)
            let reason = StoreError.unavailable(reason: "a commit was not confirmed")
            await #expect(throws: reason) { try await store.added("x", of: alice) }
            #expect(proxy.isOver)
            #expect(store.statistics.commits == before.commits)
        }
    }

    @Test func `What was committed is answered when the server says that it stops`() async throws {
        try await withStore { store, proxy in
            var acknowledged = [try await store.added("first", of: alice)]
            for number in 0..<12 {
                proxy.set(.endBeforeReady(saying: true))
                acknowledged.append(try await store.added("x\(number)", of: alice))
                proxy.set(.none)
                try await awaitStore(store)
            }
            #expect(try await store.lists(acknowledged, of: alice))
        }
    }
}
