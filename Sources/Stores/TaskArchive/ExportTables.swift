import SQLiteStore
import Platform
import SQLite
import Tasks

/// The statements of an export, on a connection of its own.
struct ExportTables: ~Copyable, ExportSource {
    private let people: Statement
    private let tasks: Statement
    /// A task behind the last person, which has no owner.
    private let stray: Statement
    private let attempts: Statement
    private let connection: Connection

    static func compiled(on connection: consuming Connection) throws(ArchiveError) -> ExportTables {
        do throws(SQLiteError) {
            return ExportTables(
                people: try connection.prepare(peopleWords), tasks: try connection.prepare(tasksWords),
                stray: try connection.prepare("SELECT \(TaskRow.columns), owner FROM tasks WHERE owner > ?1 LIMIT 1"),
                attempts: try connection.prepare(attemptsWords), connection: connection)
        } catch {
            throw .failed(reason: error.description)
        }
    }

    private static let peopleWords =
        "SELECT owner, next_id, tasks FROM owners WHERE owner > ?1 ORDER BY owner LIMIT \(ExportPage.most.people)"
    private static let tasksWords =
        "SELECT \(TaskRow.columns), owner FROM tasks WHERE owner > ?1 AND owner <= ?2 ORDER BY owner, id"
    // The plus keeps SQLite from the index by time, which would have to be sorted by owner.
    private static let attemptsWords = """
        SELECT key, fingerprint, id, text, completed, time, owner FROM attempts
        WHERE owner > ?1 AND owner <= ?2 AND +time > ?3 ORDER BY owner, key
        """

    /// See ``ExportSource``; the transaction ends before anybody reads the page.
    borrowing func page(after owner: String) throws(ArchiveError) -> ExportPage {
        try ArchiveError.sqlite { () throws(SQLiteError) in
            try connection.snapshot { () throws(SQLiteError) in
                var page = ExportPage(try people(after: owner))
                guard let last = page.people.last else {
                    page.tasks = try strays(after: owner)
                    return page
                }
                page.tasks = try tasks(after: owner, through: last.name)
                page.attempts = try attempts(after: owner, through: last.name)
                return page
            }
        }
    }

    private borrowing func people(after owner: String) throws(SQLiteError) -> [ExportPage.Person] {
        defer { people.reset() }
        try people.bind(owner)
        var found: [ExportPage.Person] = []
        while try people.step() {
            found.append(.init(name: people.text(0), next: people.integer(1), tasks: people.integer(2)))
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

    private static func items(in rows: borrowing Statement) throws(SQLiteError) -> [TaskItem] {
        var found: [TaskItem] = []
        while try rows.step() { found.append(try TaskRow.item(in: rows, of: Owner(rows.text(6)))) }
        return found
    }

    private borrowing func attempts(after owner: String, through last: String) throws(SQLiteError) -> [Attempt] {
        defer { attempts.reset() }
        try attempts.bind(owner, last, SystemTime().wallMilliseconds - IdempotencyKey.lifetime)
        var found: [Attempt] = []
        while try attempts.step() {
            let key = IdempotencyKey(
                key: attempts.text(0), fingerprint: UInt64(bitPattern: attempts.integer(1)))
            let added = attempts.integer(5)
            let item = TaskItem(
                id: attempts.integer(2), owner: Owner(attempts.text(6)), text: try TaskRow.text(attempts.text(3)),
                completed: attempts.integer(4) != 0, created: added, modified: added)
            found.append(Attempt(key: key, item: item))
        }
        return found
    }
}
