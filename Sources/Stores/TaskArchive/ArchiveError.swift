package import Platform
import PostgreSQL
import SQLite
package import Tasks

/// Why a backup, an export or an import stopped.
package enum ArchiveError: Error, Sendable, Equatable {
    /// The database does not open.
    case database(StoreOpenError)
    /// The database failed later.
    case failed(reason: String)
    /// No room on the disk.
    case full
    /// The target file exists, and is left alone.
    case targetExists(path: String)
    /// The target file cannot be begun; nothing is written.
    case target(SystemError)
    /// The file to be created, read or written fails.
    case file(SystemError)
    /// A line of the import is not one of an export; those before it are imported.
    case line(number: Int, reason: String)

    init(_ error: SQLiteError) {
        self = error.kind == .full ? .full : .failed(reason: error.description)
    }

    init(_ error: PostgreSQLError) {
        self = error.kind == .full ? .full : .failed(reason: error.description)
    }

    init(_ value: ForeignValue) {
        self = .failed(reason: value.message)
    }

    /// One line for a person.
    package var message: String {
        switch self {
        case .database(let error): error.messageOfCommand
        case .failed(let reason): "the database failed: \(reason)"
        case .full: "there is no room on the disk"
        case .targetExists(let path): "\(path) exists, and is not replaced; give another name or move it away"
        case .target(let error), .file(let error): error.description
        case .line(let number, let reason):
            "line \(number): \(reason); the lines before it are imported, and may be repeated"
        }
    }
}
