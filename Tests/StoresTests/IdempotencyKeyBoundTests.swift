import Basics
import TaskArchive
import SQLiteStore
import Platform
import SQLite
import Support
import Tasks
import Testing

@Suite("Idempotency keys in a SQLite file take a bounded space", .timeLimit(.minutes(15)))
struct IdempotencyKeyBoundTests {
    private let alice = Owner("alice")
    private let folder: TemporaryFolder
    private let time = ManualClock()

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file("tasks.db") }

    private func open() throws -> SQLiteTaskStore {
        var options = SQLiteStoreOptions()
        options.time = time
        return try SQLiteTaskStore.open(path: path, options: options)
    }

    private func count(_ condition: String = "true") throws -> Int64? {
        let connection = try Connection(path: path, mode: .readOnly)
        connection.setBusyTimeout(milliseconds: 5000)
        return try connection.integer("SELECT count(*) FROM attempts WHERE \(condition)")
    }

    /// Uses keys of each owner; their tasks are removed.
    private func fill(_ store: SQLiteTaskStore, _ owners: [Owner], each count: Int) async throws {
        for owner in owners {
            try await store.addAndRemove(
                keys: (0..<count).map { "key \($0)" }, at: time.wallMilliseconds, limit: count, of: owner)
        }
    }

    @Test("There are at most a thousand keys of one person, whatever the person does")
    func bounded() async throws {
        let store = try open()
        defer { store.close() }
        try await fill(store, [alice], each: 3000)
        #expect(try count() == IdempotencyKey.remembered)
    }

    @Test("Keys older than a day are removed as fast as keys can be added")
    func pruned() async throws {
        let store = try open()
        defer { store.close() }
        // Removed at 256 a second, these would take 80 seconds.
        let owners = (0..<20).map { Owner("owner-\($0)") }
        try await fill(store, owners, each: 1000)
        #expect(try count() == 20_000)
        time.advance(seconds: 86_399)
        try await fill(store, [alice], each: 10)
        time.advance(seconds: 2)
        try await eventually("expired keys are removed", within: .seconds(20)) { try count("owner <> 'alice'") == 0 }
        #expect(try count() == 10)
    }

    @Test("A file of the first version is brought up to date, and keeps the newest keys")
    func migrated() async throws {
        let now = time.wallMilliseconds
        try Connection(path: path, mode: .readWriteCreate).execute(Self.firstVersion)
        try Connection(path: path, mode: .readWrite).execute(
            """
            INSERT INTO owners VALUES ('alice', 3001, 1), ('bob', 2, 1);
            INSERT INTO tasks VALUES ('alice', 3000, 'x', 0, \(now), \(now), 1), ('bob', 1, 'x', 0, \(now), \(now), 1);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO attempts SELECT 'alice', 'key ' || i, 1, \(now), i, 'x', 0 FROM n;
            INSERT INTO attempts VALUES ('bob', 'key', 1, \(now), 1, 'x', 0);
            """)
        let store = try open()
        defer { store.close() }
        #expect(try count() == 1001)
        func retry(_ key: String, of owner: Owner) async throws -> Bool {
            let key = IdempotencyKey(key: key, fingerprint: 1)
            let outcome = try await store.add("x", at: now, attempt: key, of: owner)
            if case .repeated = outcome { return true }
            return false
        }
        #expect(try await retry("key 2001", of: alice))
        #expect(try await retry("key", of: Owner("bob")))
        #expect(try await !retry("key 2000", of: alice))
        let item = TaskItem(
            id: 3000, owner: alice, text: try TaskText("x"), completed: false, created: now, modified: now)
        #expect(try await store.find(3000, of: alice) == item)
    }

    /// As the first released program created it.
    private static let firstVersion = """
        \(ReleasedTables.sqlite)
        CREATE INDEX attempts_by_time ON attempts(time);
        PRAGMA application_id = 0x5441534B; PRAGMA user_version = 1;
        """
}
