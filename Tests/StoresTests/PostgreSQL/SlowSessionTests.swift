import PostgreSQLStore
import PostgreSQL
import Support
import Tasks
import Testing

@Suite("A PostgreSQL server that is slow to make sessions ready")
struct SlowSessionTests {
    @Test func `An attempt ends after seconds, and those after it get their turn`() async throws {
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
        // Callers get the reason why the last attempt failed.
        await eventually("the attempt ends") { await refusal(of: store) == "no answer within the deadline" }
        _ = try blocker.run("ROLLBACK")
        try await awaitStore(store)
    }

    @Test func `A session has one deadline for all that is asked of it, however many answers come in between`() throws {
        let connection = try PipelineConnection(to: ConnectionTarget(parsing: PostgreSQLServer.started().newDatabase()))
        connection.limitWaits(toSeconds: 2)
        _ = try connection.run("SELECT pg_sleep(0.5)")
        #expect(throws: PostgreSQLError(sqlState: nil, message: "no answer within the deadline")) {
            _ = try connection.run("SELECT pg_sleep(1.8)")
        }
    }
}
