import SQLite
import Tasks

/// The statements of an export, each of one page.
struct ExportTables: ~Copyable {
    /// A place in the order of tasks.
    struct Position {
        let owner: String
        let id: Int64

        static let start = Position(owner: "", id: 0)
    }

    private let tasks: Statement
    private let owners: Statement

    static func compiled(on connection: borrowing Connection) throws(SQLiteError) -> ExportTables {
        ExportTables(
            tasks: try connection.prepare(
                """
                SELECT \(TaskRow.columns), owner FROM tasks WHERE (owner, id) > (?1, ?2) ORDER BY owner, id LIMIT 500
                """),
            owners: try connection.prepare(
                """
                SELECT owner, next_id FROM owners WHERE owner > ?1 AND next_id >
                    1 + coalesce((SELECT max(id) FROM tasks WHERE tasks.owner = owners.owner), 0)
                ORDER BY owner LIMIT 500
                """))
    }

    func tasks(after position: Position) throws(SQLiteError) -> [TaskItem] {
        defer { tasks.reset() }
        try tasks.bind(position.owner, position.id)
        var page: [TaskItem] = []
        while try tasks.step() { page.append(try TaskRow.item(in: tasks, of: Owner(tasks.text(6)))) }
        return page
    }

    func owners(after name: String) throws(SQLiteError) -> [(name: String, next: Int64)] {
        defer { owners.reset() }
        try owners.bind(name)
        var page: [(name: String, next: Int64)] = []
        while try owners.step() { page.append((owners.text(0), owners.integer(1))) }
        return page
    }
}
