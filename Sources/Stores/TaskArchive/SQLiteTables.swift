package import Basics
package import JSON
package import SQLite
import SQLiteStore
package import Tasks

package final class SQLiteTables: TaskTables {
    private let connection: Connection
    /// Keeps servers away while tables are written: a server would not notice that its cached lists are outdated.
    private let lock: SQLiteFileLock?

    /// Opens the file; a server may run on it if it is only read.
    package init(path: String, for use: TableUse) throws(OperatorError) {
        let file = SQLiteFile(path)
        // Opened before the lock is taken as well, because the lock makes a file that is missing.
        if use != .fill { _ = try file.open(.readOnly) }
        lock = use == .read ? nil : try Self.lock(file)
        connection =
            switch use {
            case .read: try file.open(.readOnly)
            case .change: try file.open(.readWrite)
            case .fill: try file.openForWriting(maximumPages: nil) { _ in }
            }
        if use == .change {
            try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
                try connection.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
            }
        }
    }

    /// Keeps servers away from a file; the error says to stop the one that uses the file.
    static func lock(_ file: SQLiteFile) throws(OperatorError) -> SQLiteFileLock {
        do throws(OperatorError) {
            return try file.lock()
        } catch {
            guard error.isDatabaseLocked else { throw error }
            throw OperatorError(
                "a task-server uses the database \(file.path), and keeps lists of its tasks in memory",
                advice: "stop the server first, and start it again when this command has ended")
        }
    }

    package static func source(_ columns: [TableColumn]) -> String {
        "(SELECT \(columns.enumerated().map { "?\($0 + 1) AS \($1.name)" }.joined(separator: ", "))) AS line"
    }

    package static let isLine = "= ?1"
    package static let forUpdate = ""
    package static let newOrigin = SQLiteSchema.newOrigin
    package var isOneOwnerOnly: Bool { false }

    package func run(
        _ sql: String, _ values: [JSONValue], giving columns: [TableColumn]
    ) throws(SQLiteError) -> [[JSONValue]] {
        try run(sql, lines: [values], of: [], giving: columns)
    }

    package func run(
        _ sql: String, lines: [[JSONValue]], of _: [TableColumn], giving columns: [TableColumn]
    ) throws(SQLiteError) -> [[JSONValue]] {
        let statement = try connection.prepare(sql)
        var rows: [[JSONValue]] = []
        for line in lines {
            defer { statement.reset() }
            try statement.bind(row: line)
            while try statement.step() {
                rows.append(columns.enumerated().map { statement.value(of: $1, at: Int32($0)) })
            }
        }
        return rows
    }

    package func snapshot<Outcome>(_ body: () throws(SQLiteError) -> Outcome) throws(SQLiteError) -> Outcome {
        try connection.snapshot(body)
    }

    package func transaction<Outcome>(_ body: () throws(SQLiteError) -> Outcome) throws(SQLiteError) -> Outcome {
        try connection.transaction(body)
    }
}

extension SQLiteError: TableFailure {
    package var forOperator: OperatorError { OperatorError(self) }
}
