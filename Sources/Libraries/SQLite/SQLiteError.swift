private import CSQLite

/// The error that SQLite reported.
///
/// The message is SQLite's own; it names tables and columns, never the values that were bound.
package struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The extended result code (<https://sqlite.org/rescode.html>).
    package let code: Int32
    package let message: String

    package init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// The kinds of errors that callers distinguish.
    package enum Kind: Sendable, Equatable {
        /// Another connection holds the lock.
        case busy
        /// The disk has no room, or the database has its largest size.
        case full
        /// The disk or the file system failed.
        case inputOutput
        /// The file is no database.
        case notADatabase
        /// The file contradicts itself.
        case corrupt
        /// The file or its folder may not be written.
        case readOnly
        /// The file could not be opened.
        case cannotOpen
        /// A constraint of the schema refused the change.
        case constraint
        case other
    }

    package var kind: Kind {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_FULL: .full
        case SQLITE_IOERR: .inputOutput
        case SQLITE_NOTADB: .notADatabase
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_READONLY: .readOnly
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .cannotOpen
        case SQLITE_CONSTRAINT: .constraint
        default: .other
        }
    }

    /// The message and the code, for a log.
    package var description: String {
        "\(message) (SQLite \(code))"
    }

    /// Returns an error for content that the schema allows and the program never writes.
    package static func corrupt(_ message: String) -> SQLiteError {
        SQLiteError(code: SQLITE_CORRUPT, message: message)
    }

    /// Reads the last error of a connection, before anything else is done with the connection.
    init(of connection: OpaquePointer?, code: Int32) {
        let text = unsafe connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)
        self.init(code: code, message: unsafe text.map { unsafe String(cString: $0) } ?? "unknown")
    }
}

/// The version of the SQLite that is loaded.
package var sqliteVersion: String { unsafe String(cString: sqlite3_libversion()) }
