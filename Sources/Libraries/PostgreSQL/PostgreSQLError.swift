/// What PostgreSQL, or the way to it, answered instead of doing what it was asked.
///
/// The message is the server's primary one, which names tables and columns but no values: details and hints, which may
/// quote values, are left out. A message about a connection is libpq's and names hosts and users, never passwords.
package struct PostgreSQLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The five characters of the server's error code; nil if the server said nothing.
    package let sqlState: String?
    /// One line, by the server or libpq.
    package let message: String

    package init(sqlState: String?, message: String) {
        self.sqlState = sqlState
        self.message = message
    }

    /// Code and message in one line.
    package var description: String { sqlState.map { "\(message) (SQLSTATE \($0))" } ?? message }

    /// The kinds of errors that callers distinguish.
    package enum Kind: Sendable, Equatable {
        /// There is no connection any more, or none was made.
        case disconnected
        /// Another transaction interfered (serialization failure, deadlock): a retry may succeed.
        case retryable
        /// Another transaction keeps a row locked for longer than this one may wait.
        case locked
        /// An earlier statement of the transaction failed, so this one was not run.
        case transactionFailed
        /// A prepared statement is missing: a pool gave this transaction another session than that in which it was prepared.
        case unprepared
        /// No room on the disk of the server.
        case full
        /// The server has too little of something other than disk, or too many connections.
        case exhausted
        /// The server only reads: a standby.
        case readOnly
        /// The role lacks a right.
        case forbidden
        /// The statement took too long, or was cancelled.
        case cancelled
        case other
    }

    /// The kind of the error, from its code (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
    package var kind: Kind {
        guard let sqlState else { return .disconnected }
        switch sqlState {
        case "40001", "40P01": return .retryable
        case "55P03": return .locked
        case "25P02": return .transactionFailed
        case "26000", "42P05": return .unprepared
        case "53100": return .full
        case "25006": return .readOnly
        case "42501": return .forbidden
        case "57014": return .cancelled
        default: return Self.kind(ofClass: sqlState.prefix(2))
        }
    }

    private static func kind(ofClass letters: Substring) -> Kind {
        switch letters {
        case "08", "57": .disconnected
        case "53": .exhausted
        default: .other
        }
    }
}
