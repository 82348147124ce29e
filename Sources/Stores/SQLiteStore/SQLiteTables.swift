package import Basics
package import JSON
package import SQLite
package import Tasks

/// The tables of a SQLite file, for a command.
package final class SQLiteTables: OwnerTables {
    private var transaction: SQLiteTransaction
    /// Keeps servers away while tables are written: a server would not notice that its cached lists are outdated.
    private let lock: SQLiteFileLock?
    package let isDistributed = false

    /// Opens the file; a server may use a file that is only read.
    package init(path: String, for use: TableUse) throws(OperatorError) {
        let file = SQLiteFile(path)
        // The file is opened here, too, because the lock below would create a missing file.
        if use != .fill { _ = try file.open(.readOnly) }
        lock = use == .read ? nil : try file.lockForCommand()
        let connection =
            switch use {
            case .read: try file.open(.readOnly)
            case .change: try file.open(.readWrite)
            case .fill: try file.openForWriting(maximumPages: nil) { _ in }
            }
        transaction = try file.compiled(on: connection) { connection throws(SQLiteError) in
            if use == .change { try connection.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON") }
            return try SQLiteTransaction.compiled(on: connection, answers: AnswerMemory())
        }
    }

    package func rows<Row>(
        _ columns: [TableColumn], _ source: String, _ values: [JSONValue],
        _ read: ((Int) -> JSONValue) throws(ForeignValue) -> Row
    ) throws(SQLiteError) -> [Row] {
        // SQLite numbers parameters with question marks.
        let query = "SELECT \(columns.names) \(source)".map { $0 == "$" ? "?" : $0 }
        let statement = try transaction.connection.prepare(String(query))
        try statement.bind(row: values)
        var rows: [Row] = []
        while try statement.step() {
            do throws(ForeignValue) {
                rows.append(try read { statement.value(of: columns[$0], at: Int32($0)) })
            } catch {
                throw SQLiteError(error)
            }
        }
        return rows
    }

    package func snapshot<Outcome>(_ body: () throws(SQLiteError) -> Outcome) throws(SQLiteError) -> Outcome {
        try transaction.connection.snapshot(body)
    }

    package func transaction<Outcome>(
        locking owners: [Owner], _ body: () throws(SQLiteError) -> Outcome
    ) throws(SQLiteError) -> Outcome {
        try transaction.begin.run()
        do throws(SQLiteError) {
            let outcome = try body()
            try transaction.commit.run()
            return outcome
        } catch {
            transaction.connection.rollBack()
            throw error
        }
    }

    package func outcomes<Command: TaskCommand>(
        of commands: [Command]
    ) throws(SQLiteError) -> [Result<Command.Outcome, StoreError>] {
        var outcomes: [Result<Command.Outcome, StoreError>] = []
        for command in commands { outcomes.append(try transaction.run(command).outcome) }
        return outcomes
    }

    package static func operatorError(_ failure: SQLiteError) -> OperatorError { OperatorError(failure) }
}

extension SQLiteFile {
    /// Keeps servers away from the file; the error says to stop the one that uses the file.
    package func lockForCommand() throws(OperatorError) -> SQLiteFileLock {
        do throws(OperatorError) {
            return try lock()
        } catch {
            guard error.isDatabaseLocked else { throw error }
            throw OperatorError(
                "a task-server uses the database \(path), and keeps lists of its tasks in memory",
                advice: "stop the server first, and start it again when this command has ended")
        }
    }
}
