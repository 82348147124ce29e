import PostgreSQL
import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("Reads that wait for PostgreSQL")
struct ReadTurnsTests {
    private let alice = Owner("alice")

    @Test func `A list that waits for its turn until the deadline is refused as overloaded`() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let store = try PostgreSQLTaskStore.open(address) {
            ($0.readers, $0.writers, $0.deadlineMilliseconds) = (1, 1, 1000)
        }
        defer { store.close() }
        try await awaitStore(store)
        let keeper = try PipelineConnection(to: ConnectionTarget(parsing: address))
        try keeper.runScript("BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE")
        // However the test ends, no session waits for the lock any more.
        defer { try? keeper.runScript("ROLLBACK") }
        let errors = try await atOnce(1...3) { number in
            await #expect(throws: StoreError.self) { try await store.list(TaskQuery(after: Int64(number)), of: alice) }
        }
        // The first is under way and lost with its session, unless the machine was so slow that it waited as long.
        #expect(errors.count { $0 == .overloaded } >= 2)
    }
}
