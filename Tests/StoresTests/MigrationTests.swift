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

/// A database whose tables a program of an earlier version made.
enum EarlierDatabase: CaseIterable {
    case sqlite, postgreSQL, partitioned

    /// The version of this program's tables.
    var known: Int { self == .sqlite ? SQLiteSchema.known : PostgreSQLSchema.known }

    /// Makes the tables of a version, runs statements in them, and returns the path or the address.
    func made(version: Int, in folder: TemporaryFolder, _ statements: String) throws -> String {
        guard self != .sqlite else {
            let path = folder.file("tasks.db")
            let connection = try Connection(path: path, mode: .readWriteCreate)
            try connection.execute("\(ReleasedTables.sqlite(version: version)); \(statements)")
            return path
        }
        let address = try PostgreSQLServer.started().newDatabase()
        let tables = ReleasedTables.postgreSQL(version: version, isDivided: self == .partitioned)
        try PostgreSQLDatabase(address).connect().runScript("\(tables) \(statements)")
        return address
    }

    func open(_ place: String, observer: @escaping @Sendable (StoreEvent) -> Void) throws -> any TaskStore {
        guard self == .sqlite else {
            return try PostgreSQLTaskStore.open(place) { $0.observer = observer }
        }
        return try SQLiteTaskStore.open(path: place) { $0.observer = observer }
    }

    /// The number of idempotency keys, as another program counts them.
    func keys(_ place: String) throws -> Int64? {
        let query = "SELECT count(*) FROM attempts"
        guard self == .sqlite else { return try PostgreSQLDatabase(place).connect().run(query).integer(0, 0) }
        return try Connection(path: place, mode: .readOnly).integer(query)
    }
}

@Suite("Tables of earlier versions are brought up to date")
struct MigrationTests {
    private let alice = Owner("alice")
    private let now = SystemTime().wallMilliseconds

    /// The tables of the second version with one task of alice, which was added with a key.
    private func second() throws -> String {
        let rows = """
            INSERT INTO owners VALUES ('alice', 2, 1);
            INSERT INTO tasks VALUES ('alice', 1, 'old', false, \(now), \(now), 1);
            INSERT INTO attempts VALUES ('alice', 'k', 7, \(now), 1, 'old', false);
            """
        return try EarlierDatabase.postgreSQL.made(version: 2, in: TemporaryFolder(), rows)
    }

    @Test("Tasks and the newest keys are kept, and tasks take details", arguments: EarlierDatabase.allCases, [1, 2, 3])
    func kept(database: EarlierDatabase, version: Int) async throws {
        let folder = try TemporaryFolder()
        // The first version kept every key, the second only those of the newest thousand tasks.
        let rows = """
            INSERT INTO owners VALUES ('alice', 3001, 1), ('bob', 2, 0);
            INSERT INTO tasks(owner, id, text, completed, created, modified, revision)
            VALUES ('alice', 3000, 'old', false, \(now), \(now), 1);
            WITH RECURSIVE n(i) AS (VALUES (\(version == 1 ? 1 : 2001)) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO attempts(owner, key, fingerprint, time, id, text, completed)
            SELECT 'alice', 'key ' || i, 7, \(now), i, 'old', false FROM n;
            INSERT INTO attempts(owner, key, fingerprint, time, id, text, completed) VALUES ('bob', 'key', 7, \(now), 1, 'x', false);
            """
        let place = try database.made(version: version, in: folder, rows)
        let events = Recorded<StoreEvent>()
        let store = try database.open(place, observer: events.append)
        defer { store.close() }
        #expect(events.all.contains(.migrated(from: version, to: database.known)))
        #expect(try database.keys(place) == 1001)
        func retry(_ text: String, _ key: String, of owner: Owner) async throws -> TaskItem? {
            try await store.add(text, at: now, key: IdempotencyKey(key: key, fingerprint: 7), of: owner).repeated
        }
        let old = TaskItem(id: 3000, owner: alice, text: try TaskText("old"), created: now, modified: now)
        #expect(try await store.lists([old], of: alice))
        let changes = ChangesPage(rendering: [old], next: ChangePoint(origin: 1, number: 0))
        #expect(try await store.changes(of: alice) == changes)
        #expect(try await store.changes(since: changes.next, of: alice).next == changes.next)
        #expect(try await retry("old", "key 3000", of: alice) == old)
        #expect(try await retry("old", "key 2001", of: alice)?.id == 2001)
        #expect(try await retry("x", "key", of: Owner("bob"))?.id == 1)
        let change = TaskChange(details: TaskDetailsChange([.due: .string("2026-11-30")]))
        let outcome = try await store.change(3000, change, expected: [1], at: now, of: alice)
        let changed = try #require(outcome.changed)
        #expect(changed.details == TaskDetails([.due: .string("2026-11-30")]))
        let new = try await store.added("new", details: .example, of: alice)
        #expect(try await store.lists([changed, new], of: alice))
        #expect(try await store.remove(new.id, of: alice))
        let then = ChangesPage(rendering: [changed], removed: [new.id], next: ChangePoint(origin: 1, number: 3))
        #expect(try await store.changes(since: changes.next, of: alice) == then)
        #expect(try await retry("x", "key 2000", of: alice) == nil)
    }

    @Test func `Commands that need tables of this version say of which version others are`() throws {
        let address = try second()
        let path = try PostgreSQLDatabase(address).name
        let error = OperatorError.olderDatabase(path, version: 2, known: PostgreSQLSchema.known)
        #expect(throws: error) { try TaskDatabase.postgreSQL(address).countTasks() }
        #expect(throws: error) {
            _ = try TaskDatabase.postgreSQL(address).open(for: .read)
        }
    }

    @Test func `A server of the second version that runs on reads and writes, and removes no details`() async throws {
        let address = try second()
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
        // No list is cached while such a server may run, because its changes have no numbers.
        for _ in 0..<2 { _ = try await store.list(.all, of: alice) }
        _ = try running.run("EXECUTE change('alice', 1, 'renamed', NULL, \(now), true, NULL)")
        _ = try running.run("EXECUTE add('alice', 10, 'theirs', false, \(now))")
        _ = try running.run("EXECUTE remember('alice', 'k2', 7, \(now), 2, 'theirs', false)")
        let renamed = try #require(try await store.find(1, of: alice))
        #expect(renamed.text == (try TaskText("renamed")))
        #expect(renamed.details == details)
        let theirs = TaskItem(id: 2, owner: alice, text: try TaskText("theirs"), created: now, modified: now)
        #expect(try await store.lists([renamed, theirs], of: alice))
        let retry = IdempotencyKey(key: "k2", fingerprint: 7)
        #expect(try await store.add("theirs", at: now, key: retry, of: alice) == .repeated(theirs))
    }

    @Test
    func `A migration that waits for a long reader lets others read in between, and ends after it`() async throws {
        let address = try second()
        let reader = try PostgreSQLDatabase(address).connect()
        _ = try reader.run("BEGIN")
        _ = try reader.run("SELECT count(*) FROM tasks")
        let other = try PostgreSQLDatabase(address).connect()
        // The migration waits for what this test does next, so it has a thread of its own.
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
