/// An error of PostgreSQL, or of the connection to it.
///
/// The message is the server's primary one, which names tables and columns but no values. Details and hints, which may
/// quote values, are left out. A message about a connection is libpq's, and names hosts and users, never passwords.
package struct PostgreSQLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The five characters of the server's error code; nil if the server said nothing.
    package let sqlState: String?
    /// One line in the words of the server or libpq.
    package let message: String

    package init(sqlState: String?, message: String) {
        self.sqlState = sqlState
        self.message = message
    }

    /// The code and the message in one line.
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
        /// A prepared statement is missing: a pool gave this transaction a session that did not prepare it.
        case unprepared
        /// The disk of the server has no room.
        case full
        /// The server has too few resources other than disk, or too many connections.
        case exhausted
        /// The server only reads: it is a standby.
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
        // Citus says so, without a code of its own, where the session with a worker is lost.
        case "XX000" where message.hasPrefix("failure on connection marked as essential"): return .disconnected
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
