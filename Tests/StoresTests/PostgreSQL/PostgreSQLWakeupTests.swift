import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("A PostgreSQL store's thread", .timeLimit(.minutes(15)))
struct PostgreSQLWakeupTests {
    /// Where a wake-up is missing, the thread sleeps longer than all turns take, also on a machine that is busy with others.
    @Test func `The thread is woken by a request that comes when nothing is under way`() async throws {
        let store = try PostgreSQLTaskStore.open(try PostgreSQLServer.started().newDatabase()) {
            ($0.sleepMilliseconds, $0.pruningMilliseconds) = (120_000, 3_600_000)
        }
        defer { store.close() }
        try await store.check()
        let end = ContinuousClock.now + .seconds(120)
        for number in 0..<20 where ContinuousClock.now < end {
            _ = try await store.added("x", of: Owner("owner-\(number)"))
            #expect(try await store.add("x", limit: 1, of: Owner("owner-\(number)")) == .full)
            _ = try await store.list(.all, of: Owner("owner-\(number)"))
        }
        #expect(ContinuousClock.now < end)
    }
}
