package import Basics
package import PostgreSQL
import Tasks

extension StoreError {
    init(_ value: ForeignValue) { self = .broken(reason: value.message) }

    /// What a caller gets for a failed statement.
    init(_ error: PostgreSQLError) {
        switch error.kind {
        case .full: self = .full
        case .disconnected, .retryable, .locked, .transactionFailed, .unprepared, .exhausted, .readOnly, .cancelled:
            self = .unavailable(reason: error.description)
        case .forbidden, .other: self = .broken(reason: error.description)
        }
    }
}

extension OperatorError {
    /// A statement of a command that failed.
    package init(_ error: PostgreSQLError) {
        self = error.kind == .full ? .diskFull : .databaseFailed(error.description)
    }
}
