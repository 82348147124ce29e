import Basics
import TaskArchive
import PostgreSQLStore
import Platform
import Support
import Tasks
import Testing

@Suite("The space of idempotency keys in PostgreSQL", .timeLimit(.minutes(15)))
struct AttemptPruningTests {
    private let alice = Owner("alice")
    private let server: PostgreSQLServer
    private let address: String
    private let time = ManualClock()

    init() throws {
        server = try PostgreSQLServer.started()
        address = try server.newDatabase()
    }

    private var name: String { PostgreSQLServer.name(of: address) }

    private func count() throws -> Int? {
        let output = try server.command("SELECT 'count=' || count(*) FROM attempts", in: name)
        return output.split(separator: "count=").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }

    private func open() throws -> PostgreSQLTaskStore {
        var options = PostgreSQLStoreOptions()
        options.time = time
        options.pruningMilliseconds = 1000
        return try PostgreSQLTaskStore.open(address, options: options)
    }

    @Test("An owner has not many more than a thousand keys, whatever the owner does")
    func bounded() async throws {
        let store = try open()
        defer { store.close() }
        let now = time.wallMilliseconds
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2500 {
                let key = IdempotencyKey(key: "key \(number)", fingerprint: 1)
                group.addTask { _ = try await store.add("x", at: now, attempt: key, of: alice) }
            }
            try await group.waitForAll()
        }
        #expect(try count() == Int(IdempotencyKey.remembered) + 1)
    }

    @Test("What is older than a day is removed, of every owner, in partitions as well", arguments: [nil, 4])
    func pruned(partitions: Int?) async throws {
        _ = try PostgreSQLTaskStore.migrate(address, partitions: partitions)
        let now = time.wallMilliseconds
        try server.command(
            """
            INSERT INTO attempts SELECT 'owner-' || i, 'key', 1, \(now) - 86400000, 1, 'x', false
            FROM generate_series(1, 60000) i;
            INSERT INTO attempts VALUES ('alice', 'key', 1, \(now) - 86399999, 1, 'x', false)
            """, in: name)
        let stores = try [open(), open()]
        defer { for store in stores { store.close() } }
        func awaitCount(_ wanted: Int) async throws {
            // Removed at a thousand a second by each store, they would take half a minute.
            try await eventually("\(wanted) keys are left", within: .seconds(20)) { try count() == wanted }
        }
        try await awaitCount(1)
        time.advance(seconds: 1)
        try await awaitCount(0)
    }

    @Test("Tables of the first version are brought up to date, and keep the newest keys", arguments: [false, true])
    func migrated(isDivided: Bool) async throws {
        let now = time.wallMilliseconds
        try server.command(Self.firstVersion(isDivided: isDivided), in: name)
        try server.command(
            """
            INSERT INTO owners VALUES ('alice', 3001, 1);
            INSERT INTO tasks VALUES ('alice', 3000, 'x', false, \(now), \(now), 1);
            INSERT INTO attempts SELECT 'alice', 'key ' || i, 1, \(now), i, 'x', false FROM generate_series(1, 3000) i
            """, in: name)
        let message = try PostgreSQLTaskStore.migrate(address, partitions: nil)
        #expect(message.contains("from version 1 to \(PostgreSQLSchema.known)"))
        #expect(try count() == 1000)
        let store = try open()
        defer { store.close() }
        let key = IdempotencyKey(key: "key 2001", fingerprint: 1)
        guard case .repeated = try await store.add("x", at: now, attempt: key, of: alice) else {
            Issue.record("the key is forgotten")
            return
        }
        #expect(try await store.find(3000, of: alice) != nil)
    }

    /// As the first released program made them.
    private static func firstVersion(isDivided: Bool) -> String {
        """
        CREATE TABLE task_server_schema(version bigint PRIMARY KEY);
        INSERT INTO task_server_schema VALUES (1);
        \(ReleasedTables.postgreSQL(isDivided: isDivided))
        CREATE INDEX attempts_by_time ON attempts(owner, time);
        \(ReleasedTables.partitions(isDivided: isDivided))
        """
    }
}
