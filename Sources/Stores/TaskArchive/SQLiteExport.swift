import Basics
import Platform
import SQLite
import SQLiteStore
import Tasks

/// The connection that exports, and its statements.
struct SQLiteExport: ~Copyable, ExportSource {
    private let owners: Statement
    private let tasks: Statement
    /// A task after the last owner, which has no owner's row.
    private let stray: Statement
    private let records: Statement
    private let connection: Connection

    static func compiled(on connection: consuming Connection) throws(OperatorError) -> SQLiteExport {
        do throws(SQLiteError) {
            return SQLiteExport(
                owners: try connection.prepare(selectOwners), tasks: try connection.prepare(selectTasks),
                stray: try connection.prepare("SELECT \(TaskRow.columns), owner FROM tasks WHERE owner > ?1 LIMIT 1"),
                records: try connection.prepare(selectRecords), connection: connection)
        } catch {
            throw OperatorError(error)
        }
    }

    private static let selectOwners =
        "SELECT owner, next_id, tasks FROM owners WHERE owner > ?1 ORDER BY owner LIMIT \(ExportPage.most.owners)"
    private static let selectTasks =
        "SELECT \(TaskRow.columns), owner FROM tasks WHERE owner > ?1 AND owner <= ?2 ORDER BY owner, id"
    // The plus keeps SQLite from using the index by time, whose rows would have to be sorted by owner.
    private static let selectRecords = """
        SELECT \(IdempotencyRow.columns), owner FROM attempts
        WHERE owner > ?1 AND owner <= ?2 AND +time > ?3 ORDER BY owner, key
        """

    /// See ``ExportSource``; the transaction ends before the page is written.
    borrowing func page(after owner: String) throws(OperatorError) -> ExportPage {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try connection.snapshot { () throws(SQLiteError) in
                var page = ExportPage(try owners(after: owner))
                guard let last = page.owners.last else {
                    page.tasks = try strays(after: owner)
                    return page
                }
                page.tasks = try tasks(after: owner, through: last.owner.identifier)
                page.records = try records(after: owner, through: last.owner.identifier)
                return page
            }
        }
    }

    private borrowing func owners(after owner: String) throws(SQLiteError) -> [ExportPage.OwnerRow] {
        defer { owners.reset() }
        try owners.bind(owner)
        var found: [ExportPage.OwnerRow] = []
        while try owners.step() {
            let row = try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
                ExportPage.OwnerRow(
                    owner: try Owner(stored: owners.text(0)),
                    counts: try OwnerCounts(storedNext: owners.integer(1), tasks: owners.integer(2)))
            }
            found.append(row)
        }
        return found
    }

    private borrowing func tasks(after owner: String, through last: String) throws(SQLiteError) -> [TaskItem] {
        defer { tasks.reset() }
        try tasks.bind(owner, last)
        return try Self.items(in: tasks)
    }

    private borrowing func strays(after owner: String) throws(SQLiteError) -> [TaskItem] {
        defer { stray.reset() }
        try stray.bind(owner)
        return try Self.items(in: stray)
    }

    private static func owner(_ name: String) throws(SQLiteError) -> Owner {
        try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in try Owner(stored: name) }
    }

    private static func items(in rows: borrowing Statement) throws(SQLiteError) -> [TaskItem] {
        var found: [TaskItem] = []
        while try rows.step() { found.append(try TaskRow.item(in: rows, of: owner(rows.text(TaskRow.count)))) }
        return found
    }

    private borrowing func records(
        after owner: String, through last: String
    ) throws(SQLiteError) -> [IdempotencyRecord] {
        defer { records.reset() }
        try records.bind(owner, last, SystemTime().wallMilliseconds - IdempotencyKey.lifetime)
        var found: [IdempotencyRecord] = []
        while try records.step() {
            found.append(try IdempotencyRow.record(in: records, of: Self.owner(records.text(IdempotencyRow.count))))
        }
        return found
    }
}
