import SQLiteStore
import Platform
import SQLite
import Tasks

/// The statements of an import.
struct ImportTables: ~Copyable {
    private let insert: Statement
    private let compare: Statement
    private let raise: Statement
    private let attempts: AttemptTable

    static func compiled(on connection: borrowing Connection) throws(SQLiteError) -> ImportTables {
        ImportTables(
            insert: try connection.prepare(
                """
                INSERT INTO tasks(owner, \(TaskRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                ON CONFLICT(owner, id) DO NOTHING RETURNING id
                """),
            compare: try connection.prepare("SELECT \(TaskRow.columns) FROM tasks WHERE owner = ?1 AND id = ?2"),
            // Writes nothing where nothing is new, so that going over what is there costs no commit.
            raise: try connection.prepare(
                """
                INSERT INTO owners(owner, next_id, tasks) VALUES (?1, ?2, ?3)
                ON CONFLICT(owner) DO UPDATE
                SET next_id = max(next_id, excluded.next_id), tasks = tasks + excluded.tasks
                WHERE next_id < excluded.next_id OR excluded.tasks > 0
                """),
            attempts: try AttemptTable.compiled(on: connection))
    }

    /// Takes the lines of an owner in.
    func add(_ lines: OwnersLines, _ summary: inout ImportSummary) throws(SQLiteError) {
        var added = 0
        for item in lines.items {
            if try insertTask(item) {
                added += 1
            } else {
                summary.present += 1
                if try !isThere(item) { summary.differing += 1 }
            }
        }
        summary.added += added
        try raise.run(lines.owner.identifier, lines.next, Int64(added))
        for attempt in lines.attempts { try remember(attempt) }
        if !lines.attempts.isEmpty { try attempts.trim(of: lines.owner) }
    }

    private func remember(_ attempt: Attempt) throws(SQLiteError) {
        let (now, owner) = (SystemTime().wallMilliseconds, attempt.item.owner)
        guard try attempts.outcome(of: attempt.key, at: now, owner: owner) == nil else { return }
        try attempts.put(attempt.key, attempt.item)
    }

    private func insertTask(_ item: TaskItem) throws(SQLiteError) -> Bool {
        defer { insert.reset() }
        try insert.bind(
            item.owner.identifier, item.id, item.text.value, item.completed, item.created, item.modified, item.revision)
        return try insert.step()
    }

    private func isThere(_ item: TaskItem) throws(SQLiteError) -> Bool {
        defer { compare.reset() }
        try compare.bind(item.owner.identifier, item.id)
        guard try compare.step() else { return false }
        return try TaskRow.item(in: compare, of: item.owner) == item
    }
}
