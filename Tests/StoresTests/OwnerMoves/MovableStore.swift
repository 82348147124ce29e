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

/// A kind of database in which owners can be moved.
struct MovableStore: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The address of a new database; the folder belongs to the test alone.
    private let place: @Sendable (TemporaryFolder) throws -> String

    static let all = [
        MovableStore(testDescription: "SQLite") { $0.file("tasks.db") },
        MovableStore(testDescription: "PostgreSQL") { _ in try PostgreSQLServer.started().newDatabase() },
        MovableStore(testDescription: "PostgreSQL through PgBouncer") { _ in try PgBouncer.started().newDatabase() },
        MovableStore(testDescription: "PostgreSQL in partitions") { _ in
            let address = try PostgreSQLServer.started().newDatabase()
            _ = try PostgreSQLTaskStore.migrate(address, partitions: 8)
            return address
        },
    ]

    /// Gives the body a store that runs, what moves its owners, and what exports it.
    ///
    /// The store removes the idempotency keys that are expired at `time`.
    func with(
        time: any TimeSource = SystemTime(),
        _ body: (any TaskStore, any OwnerMover, any LineArchive) async throws -> Void
    ) async throws {
        try await with(time: time) { store, mover, archive, _ in try await body(store, mover, archive) }
    }

    /// The same with what runs a statement of SQL in the database, as another program.
    func with(
        time: any TimeSource = SystemTime(),
        _ body: (any TaskStore, any OwnerMover, any LineArchive, (String) throws -> Void) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let place = try place(folder)
        let isFile = place.hasPrefix("/")
        let store = isFile ? try Self.file(place, time) : try Self.server(place, time)
        defer { store.close() }
        try await body(
            store, isFile ? SQLiteOwnerMover(path: place) : PostgreSQLOwnerMover(place),
            isFile ? SQLiteArchive(path: place) : PostgreSQLArchive(place)
        ) { statement in
            guard isFile else { return try PostgreSQLDatabase(place).connect().runScript(statement) }
            let connection = try Connection(path: place, mode: .readWrite)
            connection.setBusyTimeout(milliseconds: 10_000)
            try connection.execute(statement)
        }
    }

    private static func file(_ path: String, _ time: any TimeSource) throws -> any TaskStore {
        var options = SQLiteStoreOptions()
        options.time = time
        return try SQLiteTaskStore.open(path: path, options: options)
    }

    private static func server(_ address: String, _ time: any TimeSource) throws -> any TaskStore {
        var options = PostgreSQLStoreOptions()
        options.time = time
        return try PostgreSQLTaskStore.open(address, options: options)
    }
}

extension OwnerMover {
    /// Moves everyone of these pairs.
    @discardableResult
    func move(_ pairs: [(Owner, Owner)], merging: Bool = false) throws -> MoveReport {
        try move(OwnerMap.of(pairs, merging: merging), merging: merging) { _ in true }
    }
}
