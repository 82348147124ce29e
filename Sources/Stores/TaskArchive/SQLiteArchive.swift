package import Basics
import JSON
import Platform
import SQLite
import SQLiteStore
import Tasks

/// Copies of a SQLite database, as a file or line by line, and imports into one.
///
/// Reading takes no lock that a server would notice; an import needs the database for itself. Every method blocks until it is
/// done.
package struct SQLiteArchive: LineArchive {
    private let path: String

    /// The database at this path, which need not be open anywhere.
    package init(path: String) {
        self.path = path
    }

    package func open(for use: TableUse) throws(OperatorError) -> any TaskTables {
        try SQLiteTables(path: path, for: use)
    }

    /// Writes the present state into a new database file, which appears whole, and on the disk, or not at all.
    package func backup(to target: String) throws(OperatorError) {
        guard !File.exists(target) else {
            throw OperatorError("\(target) exists, and is not replaced", advice: "give another name or move it away")
        }
        let source = try SQLiteTables(path: path, for: .read)
        let partial = target + ".partial"
        File.remove(partial)
        do throws(OperatorError) {
            // Created first, because SQLite would let every user read it.
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.createIfMissing(partial) }
            try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
                _ = try source.run("VACUUM INTO ?1", [.string(partial)], giving: [])
            }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.publish(partial, as: target) }
        } catch {
            File.remove(partial)
            throw error
        }
    }
}

/// Copies of a PostgreSQL database line by line, also while servers use it; the lines are those of ``SQLiteArchive``.
///
/// Every method blocks until it is done.
package struct PostgreSQLArchive: LineArchive {
    private let connectionString: String

    /// The database of a connection string of libpq.
    package init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    package func open(for use: TableUse) throws(OperatorError) -> any TaskTables {
        try PostgreSQLTables(connectionString, for: use, ifMissing: "there is nothing to export")
    }
}
