package import Basics
package import JSON
package import Tasks

/// The tables of a database, for commands: both kinds of database take the same statements.
///
/// The parameters of a statement are `?1`, `?2` and so on. A statement about many lines names them as a table
/// (``source(_:)``) or, if they have one column, as its values (``isLine``).
package protocol TaskTables {
    associatedtype Failure: TableFailure

    /// The lines of a statement as a table `line` with these columns, to stand after `FROM`.
    static func source(_ columns: [TableColumn]) -> String
    /// A condition on the column before it: it has the value of a line.
    static var isLine: String { get }
    /// What ends a `SELECT` whose rows nobody else may change until the transaction ends.
    static var forUpdate: String { get }
    /// An expression that gives a list another origin, so that clients' points in its changes are no longer known.
    static var newOrigin: String { get }
    /// Whether a transaction may change only one owner, because some partitions are on other servers.
    var isOneOwnerOnly: Bool { get }

    /// Runs a statement, and returns its rows, which have these columns.
    func run(_ sql: String, _ values: [JSONValue], giving columns: [TableColumn]) throws(Failure) -> [[JSONValue]]

    /// Runs a statement about lines: all at once or one after the other, which must make no difference.
    func run(
        _ sql: String, lines: [[JSONValue]], of lineColumns: [TableColumn], giving columns: [TableColumn]
    ) throws(Failure) -> [[JSONValue]]

    /// Runs a body that only reads, all of it on one state of the database.
    func snapshot<Outcome>(_ body: () throws(Failure) -> Outcome) throws(Failure) -> Outcome

    /// Runs a body in a transaction, which is on a disk afterwards; again while servers are in its way.
    func transaction<Outcome>(_ body: () throws(Failure) -> Outcome) throws(Failure) -> Outcome
}

package protocol TableFailure: Error {
    /// The error of a database that contradicts itself.
    static func corrupt(_ message: String) -> Self
    var forOperator: OperatorError { get }
}

extension TaskTables {
    /// How many tasks and idempotency keys there are of an owner; nil if the database does not know the owner.
    package func contents(of owner: Owner) throws(OperatorError) -> (tasks: Int64, keys: Int64)? {
        let rows = try rethrowing(as: \.forOperator) { () throws(Failure) in
            try run(
                "SELECT tasks, (SELECT count(*) FROM attempts WHERE owner = ?1) FROM owners WHERE owner = ?1",
                [.string(owner.identifier)], giving: [.integer("tasks"), .integer("keys")])
        }
        return rows.first.map { ($0[0].integer ?? 0, $0[1].integer ?? 0) }
    }
}

extension OperatorError {
    /// Nothing was ever stored of an owner, or everything was removed long ago.
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
    package func open(for use: TableUse) throws(OperatorError) -> any TaskTables {
        switch self {
        case .sqlite(let path): try SQLiteTables(path: path, for: use)
        case .postgreSQL(let address): try PostgreSQLTables(address, for: use)
        }
    }
}

/// What a command does with the tables of a database.
package enum TableUse {
    case read
    /// Changes tables that exist and are up to date.
    case change
    /// Adds to tables, which are made if they are missing, and brought up to date.
    case fill
}

extension TaskItem {
    init(_ row: [JSONValue]) throws(ForeignValue) {
        try self.init(of: Owner(stored: row[0].string ?? ""), stored: { row[$0 + 1] })
    }
}

extension IdempotencyRecord {
    init(_ row: [JSONValue]) throws(ForeignValue) {
        try self.init(of: Owner(stored: row[0].string ?? ""), stored: { row[$0 + 1] })
    }
}
