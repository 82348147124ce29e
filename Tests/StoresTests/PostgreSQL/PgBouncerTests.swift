import PostgreSQLStore
import Platform
import Support
import Tasks
import Testing

@Suite("PgBouncer in transaction mode before PostgreSQL")
struct PgBouncerTests {
    private let alice = Owner("alice")

    /// What is noticed: names that another session of the store took, or names that are gone.
    @Test("is noticed, told once, and served without prepared statements", arguments: [1, 3], [true, false])
    func noticed(sessions: Int, forgetting: Bool) async throws {
        let bouncer = try PgBouncer(
            before: PostgreSQLServer.started(), sessions: sessions, forgetting: forgetting)
        let address = try bouncer.newDatabase()
        let events = RecordedEvents()
        var options = PostgreSQLStoreOptions()
        options.observer = { events.append($0) }
        let store = try PostgreSQLTaskStore.open(address, options: options)
        defer { store.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let owner = Owner("owner-\(number % 7)")
                group.addTask {
                    let item = try await store.added("task \(number)", of: owner)
                    #expect(try await store.find(item.id, of: owner) == item)
                }
            }
            try await group.waitForAll()
        }
        // The sessions of later connections are shared as well, and nothing new.
        bouncer.kill9()
        // Why they do not come at first is told, too, and once.
        for _ in 0..<2000 where !events.all.contains(where: \.isRefused) { try await Task.sleep(for: .milliseconds(5)) }
        try bouncer.startAgain()
        try await awaitStore(store)
        #expect(events.all.filter(\.isRefused).count == 1)
        _ = try await store.added("later", of: alice)
        #expect(events.all.filter { $0 == .sessionsShared }.count == 1)
        #expect(!events.all.contains { if case .commitFailed = $0 { true } else { false } })
    }

    @Test("may be killed in the middle of writes: no acknowledged one is lost, none doubled")
    func kills() async throws {
        let bouncer = try PgBouncer(before: PostgreSQLServer.started(), sessions: 1)
        let address = try bouncer.newDatabase()
        let (first, second) = (try PostgreSQLTaskStore.open(address), try PostgreSQLTaskStore.open(address))
        defer {
            first.close()
            second.close()
        }
        let writes = AcknowledgedWrites(owners: 3)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in [first, second] { group.addTask { await writes.add(to: store, callers: 8) } }
            for _ in 1...5 {
                let before = writes.count
                while writes.count < before + 100 { try await Task.sleep(for: .milliseconds(1)) }
                bouncer.kill9()
                try bouncer.startAgain()
            }
            for store in [first, second] { try await awaitStore(store) }
            writes.stop()
        }
        #expect(try await writes.faults(in: second) == [])
        #expect(writes.count >= 500)
    }
}

extension StoreEvent {
    /// Nobody listens where the database was.
    fileprivate var isRefused: Bool {
        guard case .connectionLost(let reason) = self else { return false }
        return reason.contains("refused")
    }
}
