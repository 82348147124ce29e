import SQLite
import Tasks

/// The statements of an import.
struct ImportTables: ~Copyable {
    private let insert: Statement
    private let raise: Statement

    static func compiled(on connection: borrowing Connection) throws(SQLiteError) -> ImportTables {
        ImportTables(
            insert: try connection.prepare(
                """
                INSERT INTO tasks(owner, \(TaskRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                ON CONFLICT(owner, id) DO NOTHING RETURNING id
                """),
            raise: try connection.prepare(
                """
                INSERT INTO owners(owner, next_id, tasks) VALUES (?1, ?2, ?3)
                ON CONFLICT(owner) DO UPDATE
                SET next_id = max(next_id, excluded.next_id), tasks = tasks + excluded.tasks
                """))
    }

    /// Takes a line in; whether it was a task that was not there.
    func add(_ line: ArchiveLine) throws(SQLiteError) -> Bool {
        switch line {
        case .owner(let owner, let next):
            try raise.run(owner.identifier, next, Int64(0))
            return false
        case .task(let item):
            let isNew = try insertTask(
                item.owner.identifier, item.id, item.text.value, item.completed, item.created, item.modified,
                item.revision)
            try raise.run(item.owner.identifier, item.id + 1, Int64(isNew ? 1 : 0))
            return isNew
        }
    }

    private func insertTask<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) -> Bool {
        defer { insert.reset() }
        try insert.bind(repeat each values)
        return try insert.step()
    }
}
