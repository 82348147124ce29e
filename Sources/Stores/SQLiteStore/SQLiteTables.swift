package import Basics
import SQLite
package import Tasks

/// The tables of a SQLite file, for a command.
package final class SQLiteTables: OwnerTables {
    private var transaction: SQLiteTransaction
    /// Keeps servers away while tables are written: a server would not notice that its cached lists are outdated.
    private let lock: SQLiteFileLock?

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

    /// Runs a statement once; returns its rows.
    private func rows<Value>(
        _ sql: String, _ values: [any Bindable] = [],
        _ read: (borrowing SQLiteStatement) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> [Value] {
        let statement = try transaction.connection.prepare(sql)
        for (index, value) in zip(Int32(1)..., values) { try value.bind(to: statement, at: index) }
        var rows: [Value] = []
        while try statement.step() { rows.append(try read(statement)) }
        return rows
    }

    /// Runs a statement once; returns the number of rows that it has changed.
    @discardableResult
    private func run(_ sql: String, _ values: any Bindable...) throws(SQLiteError) -> Int64 {
        _ = try rows(sql, values) { _ in }
        return Int64(transaction.connection.changes)
    }

    // MARK: Reads of export

    package func countTasks() throws(OperatorError) -> Int64 {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try transaction.connection.integer("SELECT sum(tasks) FROM owners") ?? 0
        }
    }

    package func contents(of owner: Owner) throws(OperatorError) -> (tasks: Int64, keys: Int64)? {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try rows(
                "SELECT tasks, (SELECT count(*) FROM attempts WHERE owner = ?1) FROM owners WHERE owner = ?1",
                [owner.identifier]
            ) { ($0.integer(0), $0.integer(1)) }.first
        }
    }

    package func stored(
        _ range: OwnerRange, expiry: Int64, _ choose: ([CountedOwner]) -> [CountedOwner]
    ) throws(OperatorError) -> StoredOwners {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try transaction.connection.snapshot { () throws(SQLiteError) in
                try read(range, expiry, choose)
            }
        }
    }

    private func read(
        _ range: OwnerRange, _ expiry: Int64, _ choose: ([CountedOwner]) -> [CountedOwner]
    ) throws(SQLiteError) -> StoredOwners {
        let start = range.start.identifier
        var found = StoredOwners(
            choose(
                try rows(
                    "SELECT owner, next_id, tasks FROM owners WHERE owner \(range.isOne ? "=" : ">") ?1 "
                        + "ORDER BY owner LIMIT \(OwnerRange.most)", [start], Self.countedOwner)))
        guard let last = found.owners.last?.owner.identifier else {
            if !range.isOne { found.tasks = try tasks("owner > ?1 LIMIT 1", [start]) }
            return found
        }
        let isInside = "owner \(range.isOne ? ">=" : ">") ?1 AND owner <= ?2"
        found.tasks = try tasks("\(isInside) ORDER BY owner, id", [start, last])
        // The plus keeps SQLite from using the index by time, whose rows would have to be sorted by owner.
        found.records = try rows(
            """
            SELECT \(IdempotencyRecord.columns.names) FROM attempts WHERE \(isInside) AND +time > ?3 ORDER BY owner, key
            """, [start, last, expiry]
        ) { (row) throws(SQLiteError) in
            try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
                try IdempotencyRecord(of: Owner(stored: row.text(0))) {
                    row.value(of: IdempotencyRecord.columns[$0 + 1], at: Int32($0 + 1))
                }
            }
        }
        return found
    }

    private static func countedOwner(_ row: borrowing SQLiteStatement) throws(SQLiteError) -> CountedOwner {
        try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            (try Owner(stored: row.text(0)), try OwnerCounts(storedNext: row.integer(1), tasks: row.integer(2)))
        }
    }

    private func tasks(_ condition: String, _ values: [any Bindable]) throws(SQLiteError) -> [TaskItem] {
        try rows("SELECT \(TaskItem.columns.names) FROM tasks WHERE \(condition)", values) {
            (row) throws(SQLiteError) in
            try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
                try TaskItem(of: Owner(stored: row.text(0))) {
                    row.value(of: TaskItem.columns[$0 + 1], at: Int32($0 + 1))
                }
            }
        }
    }

    // MARK: Writes of import

    package func run<Command: TaskCommand>(_ commands: [Command]) throws(OperatorError) -> [Command.Outcome] {
        var outcomes: [Result<Command.Outcome, StoreError>] = []
        do throws(SQLiteError) {
            try transaction.begin.run()
            for command in commands { outcomes.append(try transaction.run(command).outcome) }
            try transaction.commit.run()
        } catch {
            transaction.connection.rollBack()
            throw OperatorError(error)
        }
        return try outcomes.map { (outcome) throws(OperatorError) in
            do throws(StoreError) { return try outcome.get() } catch { throw OperatorError.databaseFailed("\(error)") }
        }
    }

    // MARK: Reads and writes of move-owners

    package func ownersWithTasks(after owner: Owner) throws(OperatorError) -> [(owner: Owner, tasks: Int64)] {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try rows(
                "SELECT owner, tasks FROM owners WHERE owner > ?1 AND tasks > 0 ORDER BY owner LIMIT 1000",
                [owner.identifier]
            ) { (Owner($0.text(0)), $0.integer(1)) }
        }
    }

    package func states(of owners: [Owner], expiry: Int64) throws(OperatorError) -> [Owner: OwnerState] {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            var states: [Owner: OwnerState] = [:]
            for owner in owners { states[owner] = try state(of: owner, expiry) }
            return states
        }
    }

    private func state(of owner: Owner, _ expiry: Int64) throws(SQLiteError) -> OwnerState? {
        try rows(
            """
            SELECT owner, next_id, tasks, (SELECT min(id) FROM tasks WHERE owner = ?1),
                (SELECT min(id) FROM attempts WHERE owner = ?1 AND time > ?2)
            FROM owners WHERE owner = ?1
            """, [owner.identifier, expiry]
        ) { (row) throws(SQLiteError) in
            let counts = try Self.countedOwner(row).counts
            return try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
                let ids = [Int32(3), 4].map { row.isNull($0) ? nil : row.integer($0) }
                return try OwnerState(counts, firstTask: ids[0], firstKey: ids[1])
            }
        }.first
    }

    package func move(
        _ old: Owner, to new: Owner, expiry: Int64,
        _ decide: (OwnerState, OwnerState) throws(ForeignValue) -> OwnerRewrite?
    ) throws(OperatorError) {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try transaction.connection.transaction { () throws(SQLiteError) in
                // A key that is no longer remembered must not keep a newer one of the same name away.
                for owner in [old, new] {
                    try run("DELETE FROM attempts WHERE owner = ?1 AND time <= ?2", owner.identifier, expiry)
                }
                guard let known = try state(of: old, expiry) else { return }
                let other = try state(of: new, expiry) ?? OwnerState()
                let change = try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in try decide(known, other)
                }
                if let change { try rewrite(old.identifier, known, new.identifier, change) }
            }
        }
    }

    private func rewrite(
        _ old: String, _ state: OwnerState, _ new: String, _ change: OwnerRewrite
    ) throws(SQLiteError) {
        let origin = ChangePoint.newOrigin
        try run("INSERT OR IGNORE INTO owners(owner, next_id, tasks, origin) VALUES (?1, 1, 0, ?2)", new, origin)
        let moved = try move("INSERT INTO", "tasks", TaskItem.columns, old, new, change.offset)
        guard moved == state.tasks else {
            throw .corrupt("an owner has \(moved) tasks, and the owner's row counts \(state.tasks)")
        }
        try move("INSERT OR IGNORE INTO", "attempts", IdempotencyRecord.columns, old, new, change.offset)
        try run("DELETE FROM removed_tasks WHERE owner = ?1", old)
        // Clients of both owners read the whole list again, so the tasks need no change numbers.
        try run(
            """
            UPDATE owners SET next_id = ?2, tasks = tasks + ?3, change = change + 1, origin = ?4 WHERE owner = ?1
            """, new, change.next, state.tasks, origin)
        // The row stays: it keeps the ids of the old owner from being given again.
        try run("UPDATE owners SET tasks = 0, change = change + 1, origin = ?2 WHERE owner = ?1", old, origin)
    }

    /// Moves rows; returns the number of the old owner's rows.
    @discardableResult
    private func move(
        _ verb: String, _ table: String, _ columns: [TableColumn], _ old: String, _ new: String, _ offset: Int64
    ) throws(SQLiteError) -> Int64 {
        let values = columns.map { $0.name == "owner" ? "?2" : $0.name == "id" ? "id + ?3" : $0.name }
        try run(
            """
            \(verb) \(table)(\(columns.names)) SELECT \(values.joined(separator: ", "))
            FROM \(table) WHERE owner = ?1
            """, old, new, offset)
        return try run("DELETE FROM \(table) WHERE owner = ?1", old)
    }
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
