import Basics
package import SQLite
package import Tasks

/// The columns of a task in the order in which every statement names them.
package enum TaskRow {
    /// How many they are; what a statement selects in addition follows them.
    package static let count: Int32 = 9
    package static let columns = "id, text, completed, created, modified, revision, due, notes, position"

    package static let insert = "INSERT INTO tasks(owner, \(columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"

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
            created: row.integer(3), modified: row.integer(4), revision: row.integer(5),
            details: try details(in: row, from: 6))
    }

    /// What is set of the details, whose three columns begin with this one.
    static func details(in row: borrowing Statement, from column: Int32) throws(SQLiteError) -> TaskDetails {
        var details = TaskDetails()
        if !row.isNull(column) {
            guard let due = DueDate(row.text(column)) else {
                throw .corrupt("a date in the table of tasks is not one that task-server writes")
            }
            details.due = due
        }
        if !row.isNull(column + 1) { details.notes = try notes(row.text(column + 1)) }
        if !row.isNull(column + 2) {
            guard let position = TaskPosition(row.real(column + 2)) else {
                throw .corrupt("a position in the table of tasks is not one that task-server writes")
            }
            details.position = position
        }
        return details
    }

    /// A text as this program writes them; another program may have written another.
    package static func text(_ value: String) throws(SQLiteError) -> TaskText {
        try rethrowing(as: corrupt) { () throws(TaskText.Failure) in try TaskText(value) }
    }

    static func notes(_ value: String) throws(SQLiteError) -> TaskNotes {
        try rethrowing(as: corrupt) { () throws(TaskText.Failure) in try TaskNotes(value) }
    }

    private static func corrupt(_ failure: TaskText.Failure) -> SQLiteError {
        .corrupt("a text in the table of tasks is not one that task-server writes: \(failure)")
    }
}
