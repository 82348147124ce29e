import Basics
import TaskArchive
import PostgreSQLStore
import Platform
import Support
import Tasks
import Testing

@Suite("PostgreSQL with a standby")
struct FailoverTests {
    /// A primary that answers a commit when its standby has it, too.
    private struct Pair {
        let primary: PostgreSQLServer
        let standby: PostgreSQLServer

        init() throws {
            primary = try PostgreSQLServer()
            try primary.command("CREATE DATABASE tasks")
            standby = try PostgreSQLServer(following: primary, as: "standby")
            try primary.command("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            try primary.command("SELECT pg_reload_conf()")
            try primary.await("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
        }

        /// The end of the primary's log.
        func position() throws -> String {
            String(try primary.command("SELECT pg_current_wal_flush_lsn()").prefix { $0 != "\n" })
        }

        /// A port without a server, the standby, and the primary.
        func hosts(_ rest: String) throws -> String {
            let hosts = [try freePort(), standby.port, primary.port].map { "127.0.0.1:\($0)" }
            return PostgreSQLServer.address("test@\(hosts.joined(separator: ","))/tasks", "sslmode=disable\(rest)")
        }
    }

    @Test(
        "The primary is found among the hosts, also when the standby takes over; nothing acknowledged is lost or doubled"
    )
    func failover() async throws {
        let pair = try Pair()
        // One store says what it wants, the other leaves it to the defaults.
        let first = try PostgreSQLTaskStore.open(try pair.hosts("&target_session_attrs=read-write"))
        let second = try PostgreSQLTaskStore.open(try pair.hosts(""))
        defer {
            first.close()
            second.close()
        }
        expectRefusal(of: pair.standby)
        try await expectExport(from: pair, first)
        let writes = AcknowledgedWrites(owners: 3)
        try await writes.add(to: first, second, callers: 8) {
            await eventually("writes before the failover") { writes.count >= 200 }
            try pair.primary.kill9()
            try pair.standby.promote()
            let before = writes.count
            await eventually("writes after the failover") { writes.count >= before + 200 }
        }
        #expect(try pair.standby.command("SELECT count(*) >= \(writes.count) FROM tasks", in: "tasks") == "t\n")
    }

    /// A standby alone is refused, whatever the address asks for.
    private func expectRefusal(of standby: PostgreSQLServer) {
        for wish in ["", "&target_session_attrs=any", "&target_session_attrs=read-write"] {
            for attempt in [{ try PostgreSQLTaskStore.open($0).close() }, { _ = try PostgreSQLTaskStore.check($0) }] {
                let error = #expect(throws: OperatorError.self) { try attempt(standby.address("tasks") + wish) }
                #expect(error?.message.contains("/tasks only reads: it is a standby") == true)
            }
        }
    }

    /// An export writes nothing, but a standby may lag: it must be asked for.
    private func expectExport(from pair: Pair, _ store: PostgreSQLTaskStore) async throws {
        _ = try await store.added("exported", of: Owner("exporter"))
        try pair.standby.await("SELECT pg_last_wal_replay_lsn() >= '\(try pair.position())'")
        let address = pair.standby.address("tasks")
        let error = #expect(throws: OperatorError.self) { try TaskDatabase.postgreSQL(address).countTasks() }
        #expect(error?.message.hasSuffix("add target_session_attrs=any") == true)
        #expect(try TaskDatabase.postgreSQL("\(address)&target_session_attrs=any").countTasks() == 1)
    }

    @Test
    func `A server that is set to read only still answers reads, and takes writes when it may again`() async throws {
        let server = try PostgreSQLServer.started()
        let name = try server.newDatabaseName()
        let events = Recorded<StoreEvent>()
        let store = try PostgreSQLTaskStore.open(server.address(name)) { $0.observer = events.append }
        defer { store.close() }
        let alice = Owner("alice")
        let item = try await store.added("before", of: alice)
        func set(_ change: String) throws {
            try server.command("ALTER DATABASE \(name) \(change)")
            try server.command("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(name)'")
        }
        try set("SET default_transaction_read_only = on")
        // First sessions must be lost and made again.
        await eventually("writes are refused") {
            await refusal(of: store)?.contains("read-only transaction") == true
        }
        for _ in 0..<5 {
            #expect(try await store.lists([item], of: alice))
            let addition = await #expect(throws: StoreError.self) { try await store.added("x", of: alice) }
            for reason in [addition?.unavailability, await refusal(of: store)] {
                #expect(reason?.contains("read-only transaction") == true)
            }
        }
        let reports = events.all.filter { event in
            guard case .commitFailed(let reason) = event else { return false }
            return reason.contains("read-only transaction")
        }
        #expect(reports.count == 1)
        try set("RESET default_transaction_read_only")
        try await awaitStore(store)
        let next = try await store.added("after", of: alice)
        #expect(next.id == 2)
        #expect(try await store.lists([item, next], of: alice))
        #expect(events.all.filter { $0 == .recovered }.count == 1)
    }
}
