import Support
import TaskStores
import Tasks
import Testing

/// The driving thread looks around by itself once a second: what it is not woken for is late by up to that much.
@Suite("A PostgreSQL store's thread is woken")
struct PostgreSQLWakeupTests {
    private let people = (0..<8).map { Owner("owner-\($0)") }

    private func timed(_ body: (PostgreSQLTaskStore) async throws -> Void) async throws -> Duration {
        let store = try PostgreSQLTaskStore.open(try PostgreSQLServer.started().newDatabase())
        defer { store.close() }
        try await store.check()
        return try await ContinuousClock().measure { try await body(store) }
    }

    @Test("by a request that comes when nothing is under way")
    func whenIdle() async throws {
        let duration = try await timed { store in
            for number in 0..<40 {
                _ = try await store.added("x", of: people[number % people.count])
                _ = try await store.list(.all, of: people[number % people.count])
            }
        }
        #expect(duration < .seconds(30))
    }

    @Test("by the end of what was under way, when requests came meanwhile")
    func whenBusy() async throws {
        let duration = try await timed { store in
            for _ in 0..<20 {
                try await withThrowingTaskGroup { group in
                    for owner in people {
                        for _ in 0..<4 { group.addTask { _ = try await store.added("x", of: owner) } }
                        group.addTask { _ = try await store.list(.all, of: owner) }
                    }
                    try await group.waitForAll()
                }
            }
        }
        #expect(duration < .seconds(15))
    }
}
