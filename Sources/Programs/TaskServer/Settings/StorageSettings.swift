import PostgreSQLStore
import Settings

/// The places of the tasks, the keys and the page.
struct StorageSettings: Sendable {
    let database: DatabaseLocation
    let partitions: Int?
    /// How long removed tasks are known, in milliseconds.
    let removedTasksKept: Int64
    let keyCache: String?
    let folder: PublicFolder

    init(reading reader: inout SettingReader) {
        database = reader.value(
            "DATABASE", .database, default: "sqlite:tasks.db",
            help:
                "Where tasks are stored: sqlite:PATH, postgresql://USER@HOST/NAME for more than one server, or memory:, a "
                + "database among the temporary files (TMPDIR) that is removed at the end.")
        if case .postgresql(let address) = database, let mistake = PostgreSQLDatabase.mistake(in: address) {
            reader.mistake(mistake)
        }
        partitions = reader.value(
            "PARTITIONS", .orOff(.integer(2...1024, example: 16)), default: "off",
            help: "PostgreSQL only: the number of partitions of new tables, by owner.")
        let kept = reader.value(
            "REMOVED_TASKS_KEPT", .duration(.seconds(3600) ... .seconds(3650 * 86_400), example: "30d"), default: "30d",
            help:
                "How long the server knows which tasks were removed. A client that was away for longer reads the whole list "
                + "again.")
        removedTasksKept = kept.components.seconds * 1000
        let cache = reader.optional(
            "KEY_CACHE_FILE", .orOff(.path), absence: "the database's path and .keys",
            help: "Where the authority's keys are cached, so that a restart does not need the authority.")
        keyCache = cache ?? database.path.map { "\($0).keys" }
        let given = reader.optional(
            "PUBLIC", .orOff(.path), absence: "Public, if there is such a folder", help: "The folder of the page.")
        folder =
            switch given {
            case nil: .ifPresent("Public")
            case .some(.none): .none
            case .some(.some(let path)): .required(path)
            }
    }
}

/// The kind of the store, and its place.
enum DatabaseLocation: Sendable, Equatable {
    case sqlite(path: String)
    /// A SQLite file that goes at the end.
    case memory
    /// A connection string of libpq; may hold a password.
    case postgresql(String)

    var path: String? {
        switch self {
        case .sqlite(let path): path
        case .memory, .postgresql: nil
        }
    }
}

enum PublicFolder: Sendable, Equatable {
    case none
    case ifPresent(String)
    case required(String)
}

extension SettingKind where Value == DatabaseLocation {
    fileprivate static let database = SettingKind(
        placeholder: "sqlite:PATH|postgresql://...|memory:", expected: "sqlite:PATH, postgresql://... or memory:",
        example: "sqlite:/var/lib/tasks/tasks.db"
    ) { text in
        if text == "memory:" { return .memory }
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") { return .postgresql(text) }
        // SQLite's and SQLAlchemy's names of a database in memory are refused, because they would be names of files.
        guard text.hasPrefix("sqlite:"), text.utf8.count > 7, !text.prefix(while: { $0 != "?" }).hasSuffix(":memory:")
        else { return nil }
        return .sqlite(path: String(text.dropFirst(7)))
    }.redacted { text in
        // It may contain a password.
        text.hasPrefix("sqlite:") || text == "memory:" ? text : "\(text.prefix { $0 != ":" }):(hidden)"
    }
}
