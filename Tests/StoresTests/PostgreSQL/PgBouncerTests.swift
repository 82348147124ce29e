import PostgreSQLStore
import Platform
import Support
import Tasks
import Testing

@Suite("PgBouncer in transaction mode before PostgreSQL")
struct PgBouncerTests {
    private let alice = Owner("alice")

    enum Pool: CaseIterable { case plain, forgetting, keepingStatements }

    /// What is noticed: names that another session of the store took, or names that are gone.
    ///
    /// A PgBouncer that keeps the statements leaves nothing to notice. Before 1.21 none does, and the case is that of a
    /// plain one.
    @Test(
        "Shared sessions are noticed, reported once, and used without prepared statements, unless these are kept",
        arguments: [1, 3], Pool.allCases)
    func noticed(sessions: Int, pool: Pool) async throws {
        let bouncer = try PgBouncer(
            before: PostgreSQLServer.started(), sessions: sessions, forgetting: pool == .forgetting,
            keeping: pool == .keepingStatements)
        let reports = bouncer.keepsStatements ? 0 : 1
        let address = try bouncer.newDatabase()
        let events = Recorded<StoreEvent>()
        let store = try PostgreSQLTaskStore.open(address) { $0.observer = events.append }
        defer { store.close() }
        try await atOnce(0..<60) { number in
            let owner = Owner("owner-\(number % 7)")
            let item = try await store.added("task \(number)", of: owner)
            #expect(try await store.find(item.id, of: owner) == item)
        }
        // The report comes at the latest with the second session of the store, perhaps after the first has answered
        // everything.
        await eventually("the sharing is noticed") { events.all.count(where: { $0 == .sessionsShared }) == reports }
        // The sessions of later connections are shared as well, and nothing new.
        bouncer.kill9()
        // Why there are none at first is reported as well, and once.
        await eventually("the refusal is reported") { events.all.contains(where: \.isRefused) }
        try bouncer.startAgain()
        try await awaitStore(store)
        #expect(events.all.filter(\.isRefused).count == 1)
        _ = try await store.added("later", of: alice)
        #expect(events.all.filter { $0 == .sessionsShared }.count == reports)
        #expect(!events.all.contains { if case .commitFailed = $0 { true } else { false } })
    }

    @Test func `No acknowledged write is lost or doubled when PgBouncer is killed in the middle`() async throws {
        let bouncer = try PgBouncer(before: PostgreSQLServer.started(), sessions: 1)
        let address = try bouncer.newDatabase()
        let (first, second) = (try PostgreSQLTaskStore.open(address), try PostgreSQLTaskStore.open(address))
        defer {
            first.close()
            second.close()
        }
        let writes = AcknowledgedWrites(owners: 3)
        try await writes.add(to: first, second, callers: 8) {
            for _ in 1...5 {
                let before = writes.count
                await eventually("more writes") { writes.count >= before + 100 }
                bouncer.kill9()
                try bouncer.startAgain()
            }
        }
        #expect(writes.count >= 500)
    }
}

extension StoreEvent {
    /// No program listens where the database was.
    fileprivate var isRefused: Bool {
        guard case .connectionLost(let reason) = self else { return false }
        return reason.contains("refused")
    }
}
