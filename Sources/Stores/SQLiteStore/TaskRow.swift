import Basics
package import SQLite
package import Tasks

/// The columns of a task in the order in which every statement names them.
package enum TaskRow {
    /// How many they are; what a statement selects in addition follows them.
    package static let count: Int32 = 9
    package static let columns = "id, text, completed, created, modified, revision, due, notes, position"

    package static let insert = "INSERT INTO tasks(owner, \(columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"

    /// Gives a task to ``insert``.
    package static func bind(_ item: TaskItem, to statement: borrowing Statement) throws(SQLiteError) {
        let details = item.details
        try statement.bind(
            item.owner.identifier, item.id, item.text.value, item.completed, item.created, item.modified, item.revision,
            details.due?.text, details.notes?.value, details.position?.value)
    }

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
        let details = try details(in: row, from: 6)
        return try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try TaskItem(
                storedID: row.integer(0), owner: owner, text: row.text(1), completed: row.integer(2) != 0,
                created: row.integer(3), modified: row.integer(4), revision: row.integer(5), details: details)
        }
    }

    /// What is set of the details, whose three columns begin with this one.
    static func details(in row: borrowing Statement, from column: Int32) throws(SQLiteError) -> TaskDetails {
        let due = row.isNull(column) ? nil : row.text(column)
        let notes = row.isNull(column + 1) ? nil : row.text(column + 1)
        let position = row.isNull(column + 2) ? nil : row.real(column + 2)
        return try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try TaskDetails(storedDue: due, notes: notes, position: position)
        }
    }
}
