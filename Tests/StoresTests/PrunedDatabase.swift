import PostgreSQL
import PostgreSQLStore
import SQLite
import SQLiteStore
import Support
import Tasks

/// A database whose table has these rows when stores open it, which forget some of them by a clock.
struct PrunedDatabase {
    /// The SQL that adds the rows.
    let rows: String
    let table: String
    let time: ManualClock
    var observer: @Sendable (StoreEvent) -> Void = { _ in }

    /// The store, and the number of rows that are left.
    typealias Body = (_ store: any TaskStore, _ count: () throws -> Int64?) async throws -> Void

    func withSQLite(_ body: Body) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tasks.db")
        try SQLiteTaskStore.open(path: path).close()
        let connection = try Connection(path: path, mode: .readWrite)
        connection.setBusyTimeout(milliseconds: 5000)
        try connection.execute(rows)
        let store = try SQLiteTaskStore.open(path: path) { ($0.time, $0.observer) = (time, observer) }
        defer { store.close() }
        try await body(store) { try connection.integer("SELECT count(*) FROM \(table)") }
    }

    /// Two servers share the database.
    func withPostgreSQL(partitions: Int?, _ body: Body) async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        _ = try PostgreSQLTaskStore.migrate(address, partitions: partitions)
        let connection = try PostgreSQLDatabase(address).connect()
        try connection.runScript(rows)
        let stores = try (0..<2).map { _ in
            try PostgreSQLTaskStore.open(address) {
                ($0.time, $0.pruningMilliseconds, $0.observer) = (time, 1000, observer)
            }
        }
        defer { for store in stores { store.close() } }
        try await body(stores[0]) { try connection.run("SELECT count(*) FROM \(table)").integer(0, 0) }
    }
}
