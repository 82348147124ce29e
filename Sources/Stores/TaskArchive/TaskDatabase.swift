package import Basics

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
    package func open(for use: TableUse) throws(OperatorError) -> any TaskTables {
        switch self {
        case .sqlite(let path): try SQLiteTables(path: path, for: use)
        case .postgreSQL(let address): try PostgreSQLTables(address, for: use)
        }
    }
}
