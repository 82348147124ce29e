import Platform
import PostgreSQL
import PostgreSQLStore
import SQLite
import SQLiteStore
import Support
import Tasks
import Testing

@Suite("Idempotency keys that are older than a day are removed", .timeLimit(.minutes(15)))
struct AttemptPruningTests {
    private let time = ManualClock()

    /// Keys of 60,000 people that are a day old, and one that is a millisecond younger.
    private var rows: String {
        let columns = "attempts(owner, key, fingerprint, time, id, text, completed)"
        return """
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
            INSERT INTO \(columns) SELECT 'owner-' || i, 'key', 1, \(time.wallMilliseconds) - 86400000, 1, 'x', false FROM n;
            INSERT INTO \(columns) VALUES ('alice', 'key', 1, \(time.wallMilliseconds) - 86399999, 1, 'x', false)
            """
    }

    private func expectRemoval(_ count: () throws -> Int64?) async throws {
        // At a thousand a second, the removal would take a minute.
        try await eventually("one key is left", within: .seconds(20)) { try count() == 1 }
        time.advance(seconds: 1)
        try await eventually("no key is left", within: .seconds(20)) { try count() == 0 }
    }

    @Test("SQLite removes them as fast as keys can be added")
    func sqlite() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tasks.db")
        try SQLiteTaskStore.open(path: path).close()
        let connection = try Connection(path: path, mode: .readWrite)
        connection.setBusyTimeout(milliseconds: 5000)
        try connection.execute(rows)
        var options = SQLiteStoreOptions()
        options.time = time
        let store = try SQLiteTaskStore.open(path: path, options: options)
        defer { store.close() }
        try await expectRemoval { try connection.integer("SELECT count(*) FROM attempts") }
    }

    @Test("Servers of PostgreSQL remove them together, in partitions as well", arguments: [nil, 4])
    func postgreSQL(partitions: Int?) async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        _ = try PostgreSQLTaskStore.migrate(address, partitions: partitions)
        let connection = try PostgreSQLDatabase(address).connect()
        try connection.runScript(rows)
        var options = PostgreSQLStoreOptions()
        (options.time, options.pruningMilliseconds) = (time, 1000)
        let stores = try (0..<2).map { _ in try PostgreSQLTaskStore.open(address, options: options) }
        defer { for store in stores { store.close() } }
        try await expectRemoval { try connection.run("SELECT count(*) FROM attempts").integer(0, 0) }
    }
}
