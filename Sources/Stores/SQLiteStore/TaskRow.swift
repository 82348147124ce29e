package import SQLite
package import Tasks

/// The columns of a task in the order in which every statement names them.
package enum TaskRow {
    package static let columns = "id, text, completed, created, modified, revision"

    /// The task in the current row of a statement.
    package static func item(in row: borrowing Statement, of owner: Owner) throws(SQLiteError) -> TaskItem {
        TaskItem(
            id: row.integer(0), owner: owner, text: try text(row.text(1)), completed: row.integer(2) != 0,
            created: row.integer(3), modified: row.integer(4), revision: row.integer(5))
    }

    /// A text that this program wrote; another program may have written another.
    package static func text(_ words: String) throws(SQLiteError) -> TaskText {
        do throws(TaskText.Failure) {
            return try TaskText(words)
        } catch {
            throw .corrupt("a text in the table of tasks is none that task-server writes: \(error)")
        }
    }
}
