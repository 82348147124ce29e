import PostgreSQL
import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("A PostgreSQL store's statistics")
struct StoreStatisticsTests {
    private let alice = Owner("alice")

    private func withStore(_ body: (PostgreSQLTaskStore, String) async throws -> Void) async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let store = try PostgreSQLTaskStore.open(address)
        defer { store.close() }
        try await store.check()
        try await body(store, address)
    }

    @Test func `A transaction that is under way when the server ends its session is counted as failed`() async throws {
        try await withStore { store, address in
            let other = try PipelineConnection(to: ConnectionTarget(parsing: address))
            try other.runScript(
                """
                CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_sleep(8); RETURN NEW; END $$;
                CREATE TRIGGER dawdle BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION dawdle();
                """)
            let sleeping = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
            let before = store.statistics
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect { try await store.added("x", of: alice) } throws: { $0.isUnavailable }
                }
                try await eventually("the addition is under way") {
                    try other.run("SELECT count(*) \(sleeping)").integer(0, 0) == 1
                }
                _ = try other.run("SELECT pg_terminate_backend(pid) \(sleeping)")
                try await group.waitForAll()
            }
            #expect(store.statistics.failedCommits - before.failedCommits == 1)
            #expect(store.statistics.commits == before.commits)
        }
    }

    /// The outcome of an addition, and how many transactions it took.
    private func added(to store: PostgreSQLTaskStore, limit: Int) async throws -> (isFull: Bool, transactions: Int) {
        let before = store.statistics.commits
        let outcome = try await store.add("x", limit: limit, of: alice)
        return (outcome == .full, store.statistics.commits - before)
    }

    @Test("An addition takes one transaction, whether it is the owner's first or a later one, and two without room")
    func transactions() async throws {
        try await withStore { store, _ in
            let limits = [(2, false), (2, false), (2, true), (2, true), (3, false), (4, false), (4, true)]
            for (index, (limit, isFull)) in limits.enumerated() {
                let addition = try await added(to: store, limit: limit)
                #expect(addition == (isFull, isFull ? 2 : 1), "addition \(index)")
            }
        }
    }

    @Test func `Additions without room for all of them fill what room there is`() async throws {
        try await withStore { store, _ in
            for _ in 0..<2 { _ = try await added(to: store, limit: 5) }
            let outcomes = try await atOnce(0..<20) { _ in try await store.add("x", limit: 5, of: alice) }
            #expect(outcomes.count { $0 == .full } == 17)
        }
    }
}
