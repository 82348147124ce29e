package import Basics
import PostgreSQLStore
import SQLiteStore
package import Tasks

extension OperatorError {
    /// The error for an owner of whom nothing was ever stored, or everything was removed long ago.
    package static func unknownOwner(_ owner: Owner) -> OperatorError {
        OperatorError(
            "the database knows no owner \(owner.identifier)",
            advice: "an owner is the oid of the person's tokens, after the name of the source if that has one (ext:ID)")
    }
}

/// A database whose tasks a command copies, imports or moves.
package enum TaskDatabase: Sendable {
    /// The SQLite file at a path.
    case sqlite(String)
    /// The database of a connection string of libpq.
    case postgreSQL(String)

    /// Opens the tables in a session of the command's own, which blocks the calling thread.
    ///
    /// Reading takes no lock that a server would notice. A SQLite file is changed only while no server uses the file. A
    /// PostgreSQL database is also changed while servers use it.
    package func open(for use: TableUse) throws(OperatorError) -> any OwnerTables {
        switch self {
        case .sqlite(let path): try SQLiteTables(path: path, for: use)
        case .postgreSQL(let address): try PostgreSQLTables(address, for: use)
        }
    }
}
