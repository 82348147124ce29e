import Basics
import JSON
import OwnerMoves
import Platform
import PostgreSQL
import PostgreSQLStore
import SQLite
import SQLiteStore
import Support
import TaskArchive
import Tasks
import Testing

@Suite("Tables of the second version get the details of tasks", .timeLimit(.minutes(15)))
struct DetailsMigrationTests {
    private let alice = Owner("alice")
    private let key = IdempotencyKey(key: "k", fingerprint: 7)
    private let now = SystemTime().wallMilliseconds

    @Test("Commands that need tables of this version say of which version others are")
    func outdated() throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        try second(server, database, isDivided: false)
        let address = server.address(database)
        let path = try PostgreSQLDatabase(address).name
        let error = OperatorError.olderDatabase(path, version: 2, known: PostgreSQLSchema.known)
        #expect(throws: error) { try TaskDatabase.postgreSQL(address).countTasks() }
        #expect(throws: error) {
            _ = try OwnerMover(.postgreSQL(address), onlyReads: true)
        }
    }

    /// Adds, changes and repeats in a store whose tables hold one task of alice, added with a key.
    private func use(_ store: any TaskStore) async throws {
        let old = TaskItem(id: 1, owner: alice, text: try TaskText("old"), created: now, modified: now)
        #expect(try await store.lists([old], of: alice))
        #expect(try await store.add("old", at: now, attempt: key, of: alice) == .repeated(old))
        let change = TaskChange(details: TaskDetailsChange([.due: .string("2026-11-30")]))
        guard case .changed(let changed) = try await store.change(1, change, expected: [1], at: now, of: alice) else {
            Issue.record("not changed")
            return
        }
        #expect(changed.details == TaskDetails([.due: .string("2026-11-30")]))
        let new = try await store.added("new", details: .example, of: alice)
        #expect(try await store.lists([changed, new], of: alice))
    }

    @Test("A SQLite file of the second version keeps its tasks and takes details")
    func sqlite() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tasks.db")
        let connection = try Connection(path: path, mode: .readWriteCreate)
        try connection.execute(
            """
            \(Self.secondSQLite)
            INSERT INTO owners VALUES ('alice', 2, 1);
            INSERT INTO tasks VALUES ('alice', 1, 'old', 0, \(now), \(now), 1);
            INSERT INTO attempts VALUES ('alice', 'k', 7, \(now), 1, 'old', 0);
            """)
        let events = RecordedEvents()
        var options = SQLiteStoreOptions()
        options.observer = events.append
        let store = try SQLiteTaskStore.open(path: path, options: options)
        defer { store.close() }
        #expect(events.all.contains(.migrated(from: 2, to: SQLiteSchema.known)))
        try await use(store)
    }

    @Test("A PostgreSQL database of the second version keeps its tasks and takes details", arguments: [false, true])
    func postgreSQL(isDivided: Bool) async throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        try second(server, database, isDivided: isDivided)
        let address = server.address(database)
        let message = try PostgreSQLTaskStore.migrate(address, partitions: nil)
        #expect(message.contains("from version 2 to \(PostgreSQLSchema.known)"))
        let store = try PostgreSQLTaskStore.open(address)
        defer { store.close() }
        try await use(store)
    }

    @Test("A server of the second version that runs on reads and writes, and removes no details")
    func rolling() async throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        try second(server, database, isDivided: false)
        let address = server.address(database)
        let running = try PostgreSQLDatabase(address).connect()
        // Its statements, in a session that has prepared them before.
        for (name, sql) in Self.secondStatements { _ = try running.run("PREPARE \(name) AS \(sql)") }
        _ = try running.run("EXECUTE list('alice')")
        let store = try PostgreSQLTaskStore.open(address)
        defer { store.close() }
        let details = TaskDetails.example
        let change = TaskDetailsChange(Dictionary(uniqueKeysWithValues: details.members.map { ($0.detail, $0.value) }))
        _ = try await store.change(1, TaskChange(details: change), expected: nil, at: now, of: alice)
        #expect(try running.run("EXECUTE list('alice')").text(0, 1) == "old")
        _ = try running.run("EXECUTE change('alice', 1, 'renamed', NULL, \(now), true, NULL)")
        _ = try running.run("EXECUTE add('alice', 10, 'theirs', false, \(now))")
        _ = try running.run("EXECUTE remember('alice', 'k2', 7, \(now), 2, 'theirs', false)")
        let renamed = try #require(try await store.find(1, of: alice))
        #expect(renamed.text == (try TaskText("renamed")))
        #expect(renamed.details == details)
        let theirs = TaskItem(id: 2, owner: alice, text: try TaskText("theirs"), created: now, modified: now)
        #expect(try await store.lists([renamed, theirs], of: alice))
        let retry = IdempotencyKey(key: "k2", fingerprint: 7)
        #expect(try await store.add("theirs", at: now, attempt: retry, of: alice) == .repeated(theirs))
    }

    @Test("A migration that waits for a long reader lets others read in between, and ends after it")
    func longReader() async throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        try second(server, database, isDivided: false)
        let address = server.address(database)
        let reader = try PostgreSQLDatabase(address).connect()
        _ = try reader.run("BEGIN")
        _ = try reader.run("SELECT count(*) FROM tasks")
        let other = try PostgreSQLDatabase(address).connect()
        // Not on a thread that all tests share: the migration waits for what this test does next.
        let thread = try OwnThread()
        defer { thread.end() }
        let migration = Task(executorPreference: thread) {
            try PostgreSQLTaskStore.migrate(address, partitions: nil)
        }
        func count(_ condition: String) throws -> Int64 {
            try other.run(
                "SELECT count(*) FROM pg_locks WHERE database = (SELECT oid FROM pg_database "
                    + "WHERE datname = current_database()) AND \(condition)"
            ).integer(0, 0)
        }
        try await eventually("the migration waits for the table") {
            try count("mode = 'AccessExclusiveLock' AND NOT granted AND relation = 'tasks'::regclass") > 0
        }
        // Waits at most for half a second; without that it would wait as long as the reader reads.
        _ = try other.run("SET statement_timeout = '60s'")
        #expect(try other.run("SELECT count(*) FROM tasks").integer(0, 0) == 1)
        _ = try reader.run("COMMIT")
        #expect(try await migration.value.contains("from version 2 to \(PostgreSQLSchema.known)"))
    }

    private func second(_ server: PostgreSQLServer, _ database: String, isDivided: Bool) throws {
        try server.command(
            """
            \(Self.secondPostgreSQL(isDivided: isDivided))
            INSERT INTO owners VALUES ('alice', 2, 1);
            INSERT INTO tasks VALUES ('alice', 1, 'old', false, \(now), \(now), 1);
            INSERT INTO attempts VALUES ('alice', 'k', 7, \(now), 1, 'old', false);
            """, in: database)
    }

    /// As the programs of the second version made them.
    private static let secondSQLite = """
        \(ReleasedTables.sqlite)
        CREATE INDEX attempts_by_time ON attempts(time);
        CREATE INDEX attempts_by_id ON attempts(owner, id);
        PRAGMA application_id = 0x5441534B; PRAGMA user_version = 2;
        """

    private static func secondPostgreSQL(isDivided: Bool) -> String {
        """
        CREATE TABLE task_server_schema(version bigint PRIMARY KEY);
        INSERT INTO task_server_schema VALUES (1), (2);
        \(ReleasedTables.postgreSQL(isDivided: isDivided))
        CREATE INDEX attempts_by_id ON attempts(owner, id);
        CREATE INDEX attempts_by_age ON attempts(time);
        \(ReleasedTables.partitions(isDivided: isDivided))
        """
    }

    /// What servers of the second version send, under short names.
    private static let secondStatements = [
        "list(text)": """
        SELECT id, text, completed, created, modified, revision FROM tasks WHERE owner = $1 ORDER BY id LIMIT 1001
        """,
        "change(text, bigint, text, boolean, bigint, boolean, bigint[])": """
        UPDATE tasks SET text = coalesce($3, text), completed = coalesce($4, completed), modified = $5,
            revision = revision + 1
        WHERE owner = $1 AND id = $2 AND ($6 OR revision = ANY ($7))
            AND (text <> coalesce($3, text) OR completed <> coalesce($4, completed))
        RETURNING id, text, completed, created, modified, revision
        """,
        "add(text, bigint, text, boolean, bigint)": """
        WITH taken AS (
            UPDATE owners SET next_id = next_id + 1, tasks = tasks + 1 WHERE owner = $1 AND tasks < $2
            RETURNING next_id - 1 AS id
        )
        INSERT INTO tasks(owner, id, text, completed, created, modified, revision)
        SELECT $1, id, $3, $4, $5, $5, 1 FROM taken RETURNING id
        """,
        "remember(text, text, bigint, bigint, bigint, text, boolean)": """
        INSERT INTO attempts(owner, key, fingerprint, time, id, text, completed) VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
    ]
}
