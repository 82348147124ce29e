import SQLite
import Tasks

/// The statements of an export, on a connection of its own.
struct ExportTables: ~Copyable, ExportSource {
    private let people: Statement
    private let tasks: Statement
    private let connection: Connection

    static func compiled(on connection: consuming Connection) throws(ArchiveError) -> ExportTables {
        do throws(SQLiteError) {
            return ExportTables(
                people: try connection.prepare(peopleWords), tasks: try connection.prepare(tasksWords),
                connection: connection)
        } catch {
            throw .failed(reason: error.description)
        }
    }

    private static let peopleWords =
        "SELECT owner, next_id, tasks FROM owners WHERE owner > ?1 ORDER BY owner LIMIT \(ExportPage.most.people)"
    private static let tasksWords =
        "SELECT \(TaskRow.columns), owner FROM tasks WHERE owner > ?1 AND owner <= ?2 ORDER BY owner, id"

    /// See ``ExportSource``; the transaction ends before anybody reads the page.
    borrowing func page(after owner: String) throws(ArchiveError) -> ExportPage {
        try ArchiveError.sqlite { () throws(SQLiteError) in
            try connection.snapshot { () throws(SQLiteError) in
                var page = ExportPage(try people(after: owner))
                if let last = page.people.last { page.tasks = try tasks(after: owner, through: last.name) }
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
        var found: [TaskItem] = []
        while try tasks.step() { found.append(try TaskRow.item(in: tasks, of: Owner(tasks.text(6)))) }
        return found
    }
}
