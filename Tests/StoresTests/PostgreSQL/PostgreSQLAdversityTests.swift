import PostgreSQLStore
import Glibc
import Platform
import PostgreSQL
import Support
import Synchronization
import Tasks
import Testing

@Suite("A PostgreSQL store whose server or session fails", .serialized)
struct PostgreSQLAdversityTests {
    private let alice = Owner("alice")

    @Test("No acknowledged write is lost or doubled when the server is killed again and again in the middle")
    func kills() async throws {
        let server = try PostgreSQLServer()
        let store = try PostgreSQLTaskStore.open(try server.newDatabase())
        defer { store.close() }
        let writes = AcknowledgedWrites(owners: 5)
        let rounds = isSanitized ? 5 : 20
        try await writes.add(to: store, callers: 16) {
            for round in 1...rounds {
                let before = writes.count
                let isWritten = await eventually("more writes") { writes.count >= before + 20 + round * 3 }
                // Another round would wait as long, and in vain.
                guard isWritten else { break }
                try server.kill9()
                try server.startAgain()
            }
        }
        #expect(writes.count > rounds * 20)
    }

    @Test(arguments: [true, false])
    func `An answer is true or none comes, wherever the connection is cut`(afterRequest: Bool) async throws {
        let server = try PostgreSQLServer.started()
        let name = try server.newDatabaseName()
        let proxy = try StoreProxy(to: server.port)
        defer { proxy.close() }
        let store = try PostgreSQLTaskStore.open(proxy.address(name)) { ($0.readers, $0.writers) = (1, 1) }
        defer { store.close() }
        try await awaitStore(store)
        let writes = AcknowledgedWrites(owners: 3)
        try await writes.add(to: store, callers: 6) {
            // Each step cuts a little later: in each statement of a transaction, after the commit, and in the next
            // transaction.
            for step in 0..<40 {
                try await awaitStore(store)
                let bytes = 1 + step * 53
                proxy.set(.cut(bytes: bytes, ofRequests: afterRequest))
                guard await eventually("the cut", { proxy.isOver }) else { break }
            }
            proxy.set(.none)
        }
        #expect(writes.count > 50)
    }

    @Test func `A server that is away is reported at once, and used again when it is back`() async throws {
        let server = try PostgreSQLServer.started()
        let name = try server.newDatabaseName()
        let proxy = try StoreProxy(to: server.port)
        defer { proxy.close() }
        let events = Recorded<StoreEvent>()
        let store = try PostgreSQLTaskStore.open(proxy.address(name)) { $0.observer = events.append }
        defer { store.close() }
        _ = try await store.added("before", of: alice)
        try server.await("SELECT count(*) = 4 FROM pg_stat_activity WHERE datname = '\(name)'")
        proxy.set(.down)
        await eventually("the sessions are lost") {
            events.all.contains { if case .connectionLost = $0 { true } else { false } }
        }
        await expectDuration(below: .seconds(5)) {
            let start = ContinuousClock.now
            for _ in 0..<3 {
                await #expect { try await store.list(.all, of: alice) } throws: { $0.isUnavailable }
                await #expect(throws: StoreError.self) { try await store.added("x", of: alice) }
            }
            return ContinuousClock.now - start
        }
        proxy.set(.none)
        try await awaitStore(store)
        #expect(try await store.added("after", of: alice).id >= 2)
        #expect(events.all.filter { $0 == .connected }.count >= 2)
        // Each reason is reported once, though every session is lost.
        let reasons = events.all.compactMap { if case .connectionLost(let reason) = $0 { reason } else { nil } }
        #expect(!reasons.isEmpty && Set(reasons).count == reasons.count, "\(reasons)")
    }

    @Test func `A store that gets one session only reads and writes for everybody on that`() async throws {
        let server = try PostgreSQLServer.started()
        let name = try server.newDatabaseName()
        try server.command("CREATE ROLE \(name)_one LOGIN CONNECTION LIMIT 1")
        try server.command("ALTER DATABASE \(name) OWNER TO \(name)_one")
        let store = try PostgreSQLTaskStore.open(server.address(name, user: "\(name)_one"))
        defer { store.close() }
        try await awaitStore(store)
        for number in 0..<20 {
            let owner = Owner("owner-\(number)")
            let item = try await store.added("x", of: owner)
            #expect(try await store.find(1, of: owner) == item)
        }
        try server.await("SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = '\(name)_one'")
    }

    @Test("A session that says nothing any more is given up at its deadline, and another one takes its place")
    func silent() async throws {
        let server = try PostgreSQLServer.started()
        let proxy = try StoreProxy(to: server.port)
        let store = try PostgreSQLTaskStore.open(proxy.address(try server.newDatabaseName())) {
            $0.deadlineMilliseconds = 500
        }
        defer {
            proxy.close()
            store.close()
        }
        try await awaitStore(store)
        proxy.set(.silent)
        await eventually("nothing is passed on") { proxy.isOver }
        let isAnswered = Atomic(false)
        let attempt = Task {
            await #expect(throws: StoreError.self) { try await store.added("in vain", of: alice) }
            isAnswered.store(true, ordering: .releasing)
        }
        await eventually("the caller is answered", within: .seconds(20)) { isAnswered.load(ordering: .acquiring) }
        guard isAnswered.load(ordering: .acquiring) else { return }
        await attempt.value
        try await awaitStore(store)
        _ = try await store.added("after", of: alice)
    }

    /// A database in which an insertion of the text "bad" fails.
    private func databaseThatRefuses(on server: PostgreSQLServer) throws -> String {
        let name = try server.newDatabaseName()
        let address = server.address(name)
        _ = try PostgreSQLTaskStore.migrate(address, partitions: nil)
        try PipelineConnection(to: ConnectionTarget(parsing: address)).runScript(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF NEW.text = 'bad' THEN RAISE EXCEPTION 'not this'; END IF; RETURN NEW; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION refuse();
            """)
        return name
    }

    @Test func `A session whose ROLLBACK is not answered is not used again`() async throws {
        let server = try PostgreSQLServer.started()
        let name = try databaseThatRefuses(on: server)
        let proxy = try StoreProxy(to: server.port)
        defer { proxy.close() }
        let store = try PostgreSQLTaskStore.open(proxy.address(name)) {
            ($0.readers, $0.writers, $0.deadlineMilliseconds) = (1, 1, 500)
        }
        defer { store.close() }
        try await awaitStore(store)
        proxy.set(.silentAtRollBack)
        await #expect(throws: StoreError.self) { try await store.added("bad", of: alice) }
        #expect(proxy.isOver)
        // The session that reads writes, too, until there is another one that writes.
        _ = try await store.added("good", of: alice)
    }

    @Test("A statement that waits for a lock or takes too long is ended and refused, and the store continues")
    func deadline() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let store = try PostgreSQLTaskStore.open(address) { $0.deadlineMilliseconds = 1000 }
        defer { store.close() }
        _ = try await store.added("x", of: alice)
        let blocker = try PipelineConnection(to: ConnectionTarget(parsing: address))
        try blocker.runScript("BEGIN; SELECT FROM owners FOR UPDATE")
        await #expect(throws: StoreError.self) { try await store.added("y", of: alice) }
        try blocker.runScript("ROLLBACK")
        #expect(try await store.added("z", of: alice).id >= 2)
        try blocker.runScript(
            """
            CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
            CREATE TRIGGER dawdle BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION dawdle();
            """)
        await #expect(throws: StoreError.self) { try await store.added("slow", of: alice) }
        // Nobody else will end it, as the server does not look whether its client is there.
        try await eventually("the statement is ended", within: .seconds(20)) {
            try blocker.run("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'").integer(0, 0) == 0
        }
    }
}
