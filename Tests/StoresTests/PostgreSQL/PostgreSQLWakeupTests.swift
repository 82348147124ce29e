import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("A PostgreSQL store's thread", .timeLimit(.minutes(15)))
struct PostgreSQLWakeupTests {
    /// It wakes by itself once a second: what does not wake it is late by that much.
    ///
    /// The first refusal of an owner takes two transactions. Where a wake-up is missing, the 60 turns take a minute at least.
    @Test("The thread is woken by a request that comes when nothing is under way, and by one that must be tried again")
    func whenIdle() async throws {
        let store = try PostgreSQLTaskStore.open(try PostgreSQLServer.started().newDatabase())
        defer { store.close() }
        try await store.check()
        let duration = try await ContinuousClock().measure {
            for number in 0..<60 {
                _ = try await store.added("x", of: Owner("owner-\(number)"))
                #expect(try await store.add("x", limit: 1, of: Owner("owner-\(number)")) == .full)
                _ = try await store.list(.all, of: Owner("owner-\(number)"))
            }
        }
        #expect(duration < .seconds(50))
    }
}
