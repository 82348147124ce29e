import Support
import TaskStores
import Tasks
import Testing

@Suite("A PostgreSQL store's thread")
struct PostgreSQLWakeupTests {
    private let people = (0..<8).map { Owner("owner-\($0)") }

    /// It looks around by itself once a second: what it is not woken for is late by that much.
    @Test("is woken by a request that comes when nothing is under way")
    func whenIdle() async throws {
        let store = try PostgreSQLTaskStore.open(try PostgreSQLServer.started().newDatabase())
        defer { store.close() }
        try await store.check()
        let duration = try await ContinuousClock().measure {
            for number in 0..<60 {
                _ = try await store.added("x", of: people[number % people.count])
                _ = try await store.list(.all, of: people[number % people.count])
            }
        }
        #expect(duration < .seconds(30))
    }
}
