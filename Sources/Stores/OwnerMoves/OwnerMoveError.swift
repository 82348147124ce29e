package import Platform
import PostgreSQL
import SQLite
package import Tasks

/// Why owners are not moved, or no further.
package enum OwnerMoveError: Error, Sendable, Equatable {
    /// The database does not open.
    case database(StoreOpenError)
    /// Parts of the tables are on other servers, so that no transaction covers two owners.
    case foreignTables(database: String)
    /// The database failed later; who was moved until then is moved.
    case failed(reason: String)
    /// No room on the disk.
    case full
    /// A file cannot be read or written.
    case file(SystemError)
    /// What is wrong with the map, each mistake a line for a person with its place; nothing was changed.
    case map(MoveReport.Sample<String>)

    init(_ error: SQLiteError) {
        self = error.kind == .full ? .full : .failed(reason: error.description)
    }

    init(_ error: PostgreSQLError) {
        self = error.kind == .full ? .full : .failed(reason: error.description)
    }

    init(_ value: ForeignValue) {
        self = .failed(reason: value.message)
    }

    /// One line for a person; the mistakes of a map have a line each in ``map(_:)``.
    package var message: String {
        switch self {
        case .database(let error): error.messageOfCommand
        case .foreignTables(let database):
            "the database \(database) has parts of its tables on other servers, and no transaction there changes two of them "
                + "whole; export, replace the owners in the lines, and import into new tables"
        case .failed(let reason): "the database failed: \(reason)"
        case .full: "there is no room on the disk"
        case .file(let error): error.description
        case .map(let faults): "\(faults.count) mistakes in the map; nothing was changed"
        }
    }
}
