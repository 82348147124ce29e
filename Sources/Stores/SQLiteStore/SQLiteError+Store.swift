package import Basics
package import SQLite
package import Tasks

extension SQLiteError {
    package init(_ value: ForeignValue) { self = .corrupt(value.message) }
}

extension StoreError {
    /// The error that callers get for a failed statement.
    init(_ error: SQLiteError) {
        switch error.kind {
        case .full: self = .full
        case .busy, .cannotOpen: self = .unavailable(reason: error.description)
        case .inputOutput, .notADatabase, .corrupt, .readOnly, .constraint, .other:
            self = .broken(reason: error.description)
        }
    }
}

extension StoreOpenError {
    /// The error that the operator gets for a file that does not open.
    init(_ error: SQLiteError, path: String) {
        switch error.kind {
        case .notADatabase: self = .notADatabase(path: path)
        case .readOnly: self = .unwritable(path: path, reason: error.description)
        case .cannotOpen: self = .unreadable(path: path, reason: error.description)
        case .full: self = .full(path: path)
        case .busy, .inputOutput, .corrupt, .constraint, .other: self = .failed(path: path, reason: error.description)
        }
    }
}

extension OperatorError {
    /// A statement of a command that failed.
    package init(_ error: SQLiteError) { self = error.kind == .full ? .diskFull : .databaseFailed(error.description) }
}
