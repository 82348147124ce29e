package import Basics
package import SQLite
import StoreEngine
package import Tasks

extension SQLiteError: TransactionFailure {
    package init(_ value: ForeignValue) { self = .corrupt(value.message) }

    /// The error for the operator.
    var report: ReportedFailure {
        ReportedFailure(code: String(code), reason: description, isFull: kind == .full)
    }
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

extension OperatorError {
    /// A file that does not open.
    init(opening path: String, _ error: SQLiteError) {
        let failure = OperatorError.unopenedDatabase(path, error.description)
        self =
            switch error.kind {
            case .notADatabase:
                OperatorError(
                    "\(path) is not a SQLite database", advice: "move it away, or give another TASKS_DATABASE")
            case .readOnly: .unwritableDatabase(path, error.description)
            case .cannotOpen: failure.advising("check the path and its permissions")
            case .full: .fullDatabase(path)
            case .busy, .inputOutput, .corrupt, .constraint, .other: failure
            }
    }

    /// A statement of a command that failed.
    package init(_ error: SQLiteError) { self = error.kind == .full ? .diskFull : .databaseFailed(error.description) }
}
