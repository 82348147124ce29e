import PostgreSQLStore
import PostgreSQL
import Support
import Tasks
import Testing

@Suite("A PostgreSQL server that is slow to make sessions ready")
struct SlowSessionTests {
    @Test("keeps an attempt for seconds, and those behind it come to their turn")
    func blocked() async throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        let store = try PostgreSQLTaskStore.open(server.address(database))
        defer { store.close() }
        try await awaitStore(store)
        let blocker = try PipelineConnection(to: ConnectionTarget(parsing: server.address(database)))
        _ = try blocker.run("BEGIN")
        _ = try blocker.run("LOCK TABLE task_server_schema")
        try server.command(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = '\(database)' AND query NOT LIKE 'LOCK%' AND pid <> pg_backend_pid()
            """)
        // What callers are told is why the last attempt failed.
        let start = ContinuousClock.now
        let late = StoreError.unavailable(reason: "no answer within the deadline")
        var reason: StoreError?
        while reason != late, ContinuousClock.now - start < .seconds(40) {
            try await Task.sleep(for: .milliseconds(50))
            do throws(StoreError) { try await store.check() } catch { reason = error }
        }
        #expect(reason == late)
        _ = try blocker.run("ROLLBACK")
        try await awaitStore(store)
    }

    @Test("has one deadline for all that is asked of it, however many answers come in between")
    func slow() throws {
        let connection = try PipelineConnection(to: ConnectionTarget(parsing: PostgreSQLServer.started().newDatabase()))
        connection.limitWaits(toSeconds: 6)
        _ = try connection.run("SELECT pg_sleep(2)")
        #expect(throws: PostgreSQLError(sqlState: nil, message: "no answer within the deadline")) {
            _ = try connection.run("SELECT pg_sleep(5)")
        }
    }
}
