import OwnerMoves
import Platform
import PostgreSQL
import PostgreSQLStore
import SQLite
import SQLiteStore
import Support
import Synchronization
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
        MovableStore(testDescription: "PostgreSQL whose tables are distributed") { _ in
            try DistributedDatabase.new(on: PostgreSQLServer.started())
        },
    ]

    /// Gives the body a database with a store that runs on it.
    ///
    /// The store removes the idempotency keys that are expired at `time`.
    func with(time: any TimeSource = SystemTime(), _ body: (MovablePlace) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let place = try MovablePlace(try place(folder), time)
        defer { place.store.close() }
        try await body(place)
    }
}

/// A database with a store that runs on it.
final class MovablePlace: Sendable {
    private let address: String
    private let time: any TimeSource
    private let open: Mutex<any TaskStore>

    /// At the address of a PostgreSQL database, or at the path of a SQLite file.
    init(_ address: String, _ time: any TimeSource) throws {
        self.address = address
        self.time = time
        open = Mutex(try Self.store(address, time))
    }

    /// Opens one more store.
    func reopened() throws -> any TaskStore { try Self.store(address, time) }

    private static func store(_ address: String, _ time: any TimeSource) throws -> any TaskStore {
        guard address.hasPrefix("/") else {
            return try PostgreSQLTaskStore.open(address) { ($0.time, $0.pruningMilliseconds) = (time, 100) }
        }
        return try SQLiteTaskStore.open(path: address) { $0.time = time }
    }

    var isFile: Bool { address.hasPrefix("/") }

    /// The store; another one after a move in a SQLite file.
    var store: any TaskStore { open.withLock { $0 } }

    var archive: TaskDatabase { isFile ? TaskDatabase.sqlite(address) : TaskDatabase.postgreSQL(address) }

    /// Opens the tables for a move, or to plan one.
    func mover(onlyReads: Bool) throws -> any OwnerTables {
        try archive.open(for: onlyReads ? .read : .change)
    }

    /// Finds out what a move would do, while the store runs.
    func plan(_ pairs: [(Owner, Owner)], merging: Bool = false) throws -> MoveReport {
        try mover(onlyReads: true).plan(OwnerMap.of(pairs, merging: merging), merging: merging)
    }

    /// Moves everyone of these pairs; a store on a SQLite file is closed, and opened again after the move.
    @discardableResult
    func move(
        _ pairs: [(Owner, Owner)], merging: Bool = false, shouldContinue: (Int) -> Bool = { _ in true }
    ) throws -> MoveReport {
        let map = try OwnerMap.of(pairs, merging: merging)
        if isFile { store.close() }
        let report = Result {
            try mover(onlyReads: false).move(map, merging: merging, shouldContinue: shouldContinue)
        }
        if isFile {
            let store = try reopened()
            open.withLock { $0 = store }
        }
        return try report.get()
    }

    /// The integer that a query finds.
    func integer(_ query: String) throws -> Int64? {
        isFile
            ? try Connection(path: address, mode: .readOnly).integer(query)
            : try PostgreSQLDatabase(address).connect().run(query).integer(0, 0)
    }

    /// Runs a statement of SQL in the database, as another program.
    func run(_ statement: String) throws {
        guard isFile else { return try PostgreSQLDatabase(address).connect().runScript(statement) }
        let connection = try Connection(path: address, mode: .readWrite)
        connection.setBusyTimeout(milliseconds: 10_000)
        try connection.execute(statement)
    }
}

extension OwnerTables {
    /// Moves everyone of these pairs.
    @discardableResult
    func move(_ pairs: [(Owner, Owner)], merging: Bool = false) throws -> MoveReport {
        try move(OwnerMap.of(pairs, merging: merging), merging: merging) { _ in true }
    }
}
