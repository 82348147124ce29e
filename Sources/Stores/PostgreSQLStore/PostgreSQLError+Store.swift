package import Basics
package import PostgreSQL
import StoreEngine
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

extension PostgreSQLError {
    /// Whether other transactions or sessions were in the way, so that the same statement may succeed.
    var isPassing: Bool {
        switch kind {
        case .retryable, .transactionFailed, .unprepared: true
        case .locked, .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other: false
        }
    }

    /// What the error of a statement means for the writes of its transaction.
    ///
    /// After a COMMIT that failed the outcome is in doubt (of foreign partitions some may have committed), except after a
    /// serialization failure.
    func batchFailure(isCommit: Bool) -> BatchFailure {
        guard !isCommit || kind == .retryable else { return .final }
        return switch kind {
        case .retryable, .transactionFailed, .unprepared: .others
        case .locked: .lockedRow
        case .cancelled, .full, .forbidden, .other: .oneJob
        case .disconnected, .exhausted, .readOnly: .final
        }
    }

    /// The error for the operator, if its reason concerns more than its caller.
    var report: ReportedFailure? {
        guard !isPassing, kind != .locked else { return nil }
        return ReportedFailure(code: sqlState ?? "", reason: description, isFull: kind == .full)
    }
}

extension OperatorError {
    /// A statement of a command that failed.
    package init(_ error: PostgreSQLError) {
        self = error.kind == .full ? .diskFull : .databaseFailed(error.description)
    }
}
