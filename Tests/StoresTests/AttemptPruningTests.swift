import Platform
import Support
import Tasks
import Testing

@Suite("Idempotency keys take a bounded space, and are removed after a day")
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

    @Test(
        "There are few more keys of one person than are remembered, whatever the person does",
        arguments: MovableStore.all.prefix(2))
    func bounded(kind: MovableStore) async throws {
        try await kind.with { place in
            let keys = (0..<1500).map { "key \($0)" }
            try await place.store.addAndRemove(keys: keys, at: SystemTime().wallMilliseconds, of: Owner("alice"))
            let count = try #require(try place.integer("SELECT count(*) FROM attempts"))
            #expect((IdempotencyKey.remembered...IdempotencyKey.remembered + IdempotencyKey.room).contains(count))
        }
    }

    private var database: PrunedDatabase { PrunedDatabase(rows: rows, table: "attempts", time: time) }

    @Test func `SQLite removes keys of other days as fast as keys can be added`() async throws {
        try await database.withSQLite { _, count in try await expectRemoval(count) }
    }

    @Test("Servers of PostgreSQL remove keys of other days together, in partitions as well", arguments: [nil, 4])
    func postgreSQL(partitions: Int?) async throws {
        try await database.withPostgreSQL(partitions: partitions) { _, count in try await expectRemoval(count) }
    }
}
