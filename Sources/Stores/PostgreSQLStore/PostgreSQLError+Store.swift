package import Basics
package import PostgreSQL
import StoreEngine
import Tasks

extension StoreError {
    init(_ value: ForeignValue) { self = .broken(reason: value.message) }

    /// The error that a caller gets for a failed statement.
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

    /// The failure of a transaction's writes, by the error of one of its statements.
    ///
    /// After a COMMIT that failed the outcome is in doubt, except after a serialization failure.
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
    /// The error of a command, one of whose statements failed.
    package init(_ error: PostgreSQLError) {
        self = error.kind == .full ? .diskFull : .databaseFailed(error.description)
    }
}

/// Says what an operator can do where a connection failed, by libpq's messages, since libpq has no codes for that.
enum UnreachableDatabase {
    private static let advices: [(message: StaticString, advice: String)] = [
        ("password authentication failed", "check user and password in TASKS_DATABASE"),
        ("no password supplied", "give a password in TASKS_DATABASE, or in the file that PGPASSFILE names"),
        ("pg_hba.conf", "let the server's pg_hba.conf take this user, database, address and encryption"),
        ("permission denied for database", "GRANT CONNECT on it, as its owner"),
        ("root certificate file", "correct sslrootcert in TASKS_DATABASE"),
        ("certificate verify failed", "let sslrootcert name the certificate that signed the server's"),
        ("does not match host name", "name the host as its certificate does"),
        ("does not exist", "make it, or correct TASKS_DATABASE"),
        ("remaining connection slots", "raise its max_connections, or put PgBouncer in between"),
        ("too many clients", "raise its max_connections, or put PgBouncer in between"),
        ("timeout expired", "check that the host is right, and that no firewall is in between"),
    ]

    /// The advice, as the part of a sentence that follows a semicolon.
    static func advice(_ error: PostgreSQLError) -> String {
        advices.first { holds(error.message, $0.message) }?.advice ?? "check TASKS_DATABASE and the server"
    }

    /// Whether the last of the hosts was reached, and takes no writes.
    static func isReadOnly(_ error: PostgreSQLError) -> Bool {
        error.message.hasSuffix("session is read-only") || error.message.hasSuffix("server is in hot standby mode")
    }

    private static func holds(_ text: String, _ part: StaticString) -> Bool {
        let part = part.description.utf8
        return text.utf8.indices.contains { text.utf8[$0...].starts(with: part) }
    }
}
