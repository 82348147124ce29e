import Basics
import Platform
import SQLite
import SQLiteStore
import Tasks

/// The connection that imports lines, and its statements.
struct SQLiteImport: ~Copyable, ImportTarget {
    private let insert: Statement
    private let find: Statement
    private let raise: Statement
    private let idempotency: IdempotencyStatements
    private let connection: Connection
    /// Keeps servers away until the import has ended: a server would not notice that its cached lists are outdated.
    private let lock: SQLiteFileLock

    static func open(_ file: SQLiteFile) throws(OperatorError) -> SQLiteImport {
        let lock = try rethrowing(as: OperatorError.ofWriter) { () throws(StoreOpenError) in try file.lock() }
        let connection = try rethrowing(as: OperatorError.init) { () throws(StoreOpenError) in
            try file.openForWriting(maximumPages: nil) { _ in }
        }
        // No closure: that could not consume the connection.
        do throws(SQLiteError) { return try compiled(on: connection, lock) } catch { throw OperatorError(error) }
    }

    private static func compiled(
        on connection: consuming Connection, _ lock: SQLiteFileLock
    ) throws(SQLiteError) -> SQLiteImport {
        SQLiteImport(
            insert: try connection.prepare("\(TaskRow.insert) ON CONFLICT(owner, id) DO NOTHING RETURNING id"),
            find: try connection.prepare(TaskRow.find),
            // Writes nothing where nothing is new, so that repeating an import costs no commit.
            raise: try connection.prepare(
                """
                INSERT INTO owners(owner, next_id, tasks) VALUES (?1, ?2, ?3)
                ON CONFLICT(owner) DO UPDATE
                SET next_id = max(next_id, excluded.next_id), tasks = tasks + excluded.tasks
                WHERE next_id < excluded.next_id OR excluded.tasks > 0
                """),
            idempotency: try IdempotencyStatements.compiled(on: connection), connection: connection, lock: lock)
    }

    /// See ``ImportTarget``: in one transaction.
    borrowing func add(_ owners: [OwnerLines], _ summary: inout ImportSummary) throws(OperatorError) {
        summary = try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                var counted = summary
                for lines in owners { try add(lines, &counted) }
                return counted
            }
        }
    }

    private borrowing func add(_ lines: OwnerLines, _ summary: inout ImportSummary) throws(SQLiteError) {
        var added = 0
        for item in lines.items {
            if try insertTask(item) {
                added += 1
            } else {
                summary.present += 1
                if try TaskRow.find(item.id, of: item.owner, with: find) != item { summary.differing += 1 }
            }
        }
        summary.added += added
        try raise.run(lines.owner.identifier, lines.next, Int64(added))
        for record in lines.records { try putIfMissing(record) }
        if !lines.records.isEmpty { try idempotency.trim(of: lines.owner) }
    }

    private borrowing func putIfMissing(_ record: IdempotencyRecord) throws(SQLiteError) {
        let now = SystemTime().wallMilliseconds
        guard try idempotency.record(of: record.key, at: now, owner: record.item.owner) == nil else { return }
        try idempotency.put(record)
    }

    private borrowing func insertTask(_ item: TaskItem) throws(SQLiteError) -> Bool {
        defer { insert.reset() }
        try TaskRow.bind(item, to: insert)
        return try insert.step()
    }
}
