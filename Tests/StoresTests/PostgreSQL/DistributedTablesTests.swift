import OwnerMoves
import Platform
import PostgreSQLStore
import Support
import TaskArchive
import Tasks
import Testing

/// A database of one server whose tables count as distributed by Citus; `make drill-citus` has a real one.
enum DistributedDatabase {
    static func new(on server: PostgreSQLServer) throws -> String {
        let address = try server.newDatabase()
        try PostgreSQLTaskStore.open(address).close()
        try server.command(declaration, in: PostgreSQLServer.name(of: address))
        return address
    }

    /// Stands for the catalog of Citus, and for the one of its functions that a migration calls.
    static let declaration = """
        CREATE TABLE pg_dist_partition AS SELECT 'tasks'::regclass AS logicalrelid;
        CREATE TABLE calls(name text);
        CREATE FUNCTION create_distributed_table(name text, owner text, colocate_with text) RETURNS void
            LANGUAGE sql BEGIN ATOMIC INSERT INTO calls VALUES (name || ' with ' || colocate_with); END
        """
}

@Suite("Tables that Citus distributes over servers")
struct DistributedTablesTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    @Test func `A statement that locks or writes concerns one owner, unless it forgets what is old`() async throws {
        let server = try PostgreSQLServer.started()
        let address = try DistributedDatabase.new(on: server)
        let name = PostgreSQLServer.name(of: address)
        try server.command("ALTER DATABASE \(name) SET log_statement = 'all'")
        let time = ManualClock(wallMilliseconds: SystemTime().wallMilliseconds)
        let store = try PostgreSQLTaskStore.open(address) {
            $0.time = time
            $0.pruningMilliseconds = 10
        }
        try await useAll(of: store, .postgreSQL(address), at: time.wallMilliseconds)
        time.advance(seconds: 40 * 86_400)
        try await eventually("what is old is forgotten") {
            try server.command(
                "SELECT (SELECT count(*) FROM attempts) + (SELECT count(*) FROM removed_tasks)", in: name) == "0\n"
        }
        store.close()
        let ofAll = ["DELETE FROM attempts WHERE time <= $1", "DELETE FROM owners WHERE deleted <= $1 AND tasks = 0"]
        let statements = server.log.split(separator: "LOG:  ").filter { $0.hasPrefix("execute ") }.map { piece in
            let lines = piece.split(separator: "\n")
            let rest = lines.dropFirst().prefix { $0.hasPrefix("\t") }
            return ([lines[0].drop { $0 != ":" }] + rest).joined(separator: "\n")
        }
        #expect(statements.count > 50)
        for statement in statements where !statement.contains("has_table_privilege") {
            #expect(!statement.contains(";") && !statement.contains("random()"), "\(statement)")
            guard ["UPDATE", "DELETE", "INSERT"].contains(where: statement.contains) else { continue }
            let isOfOne = ["owner = $1", "VALUES ($1, ", "SELECT $1, "].contains { statement.contains($0) }
            #expect(isOfOne != ofAll.contains { statement.hasPrefix(": \($0)") }, "\(statement)")
            #expect(!statement.contains("WITH taken"), "Citus sends it to all servers: \(statement)")
        }
    }

    private func useAll(of store: PostgreSQLTaskStore, _ archive: TaskDatabase, at now: Int64) async throws {
        let key = IdempotencyKey(key: "key", fingerprint: 1)
        try await atOnce([alice, bob]) { owner in
            for _ in 0..<100 { _ = try await store.added("x", at: now, of: owner) }
            _ = try await store.added("y", at: now, key: key, of: owner)
            _ = try await store.change(1, TaskChange(completed: true), expected: nil, at: now, of: owner)
            let changes = (Int64(2)...80).map { IdentifiedChange(id: $0, change: TaskChange(completed: true)) }
            _ = try await store.changeAll(changes, at: now, of: owner)
            #expect(try await store.remove(90, expected: nil, at: now, of: owner) == .removed)
            #expect(try await store.removeCompleted(at: now, of: owner) == 80)
        }
        let lines = try archive.lines()
        _ = try await store.perform(RemoveOwner(owner: bob, issued: 0, time: now))
        #expect(try archive.add(lines).added == 20)
        #expect(try archive.open(for: .change).move([(alice, Owner("carol"))]).moved.tasks == 20)
        try await store.check()
        #expect(Set(try await store.changeNumbers(of: [alice, bob]).keys) == [alice, bob])
    }

    @Test func `An upgrade distributes a new table with the others, one statement at a time`() throws {
        let server = try PostgreSQLServer.started()
        let address = try server.newDatabase()
        let name = PostgreSQLServer.name(of: address)
        try server.command(ReleasedTables.postgreSQL(version: 1, isDivided: false), in: name)
        try server.command(DistributedDatabase.declaration, in: name)
        #expect(try PostgreSQLTaskStore.migrate(address, partitions: nil).contains("from version 1"))
        #expect(try server.command("SELECT * FROM calls", in: name) == "removed_tasks with owners\n")
    }

    @Test func `Without Citus nothing is distributed, and the error says what is missing`() throws {
        let address = try PostgreSQLServer.started().newDatabase()
        _ = try PostgreSQLTaskStore.migrate(address, partitions: nil)
        #expect { try PostgreSQLTaskStore.distribute(address) } throws: { "\($0)".contains("CREATE EXTENSION citus") }
    }
}
