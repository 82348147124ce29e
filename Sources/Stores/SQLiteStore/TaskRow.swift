import Basics
package import SQLite
package import Tasks

/// The columns of a task in the order in which every statement names them.
package enum TaskRow {
    package static let columns = "id, text, completed, created, modified, revision"

    package static let find = "SELECT \(columns) FROM tasks WHERE owner = ?1 AND id = ?2"

    package static func find(
        _ id: Int64, of owner: Owner, with statement: borrowing Statement
    ) throws(SQLiteError) -> TaskItem? {
        defer { statement.reset() }
        try statement.bind(owner.identifier, id)
        return try statement.step() ? item(in: statement, of: owner) : nil
    }

    /// The task in the current row of a statement.
    package static func item(in row: borrowing Statement, of owner: Owner) throws(SQLiteError) -> TaskItem {
        TaskItem(
            id: row.integer(0), owner: owner, text: try text(row.text(1)), completed: row.integer(2) != 0,
            created: row.integer(3), modified: row.integer(4), revision: row.integer(5))
    }

    /// A text as this program writes them; another program may have written another.
    package static func text(_ value: String) throws(SQLiteError) -> TaskText {
        try rethrowing(as: corrupt) { () throws(TaskText.Failure) in try TaskText(value) }
    }

    private static func corrupt(_ failure: TaskText.Failure) -> SQLiteError {
        .corrupt("a text in the table of tasks is none that task-server writes: \(failure)")
    }
}
