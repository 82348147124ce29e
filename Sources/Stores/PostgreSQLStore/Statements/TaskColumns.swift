import Basics
package import PostgreSQL
package import Tasks

/// The columns of a task in the order in which every statement names them.
package enum TaskColumns {
    package static let all = "id, text, completed, created, modified, revision"

    /// The task in a row, whose columns begin after that many others.
    package static func item(
        in rows: borrowing Rows, _ row: Int, of owner: Owner, after columns: Int = 0
    ) throws(StoreError) -> TaskItem {
        TaskItem(
            id: rows.integer(row, columns), owner: owner, text: try text(rows.text(row, columns + 1)),
            completed: rows.boolean(row, columns + 2), created: rows.integer(row, columns + 3),
            modified: rows.integer(row, columns + 4), revision: rows.integer(row, columns + 5))
    }

    /// A text that this program wrote; another program may have written another.
    package static func text(_ value: String) throws(StoreError) -> TaskText {
        try rethrowing(as: {
            StoreError.broken(reason: "a text in the table of tasks is none that task-server writes: \($0)")
        }) { () throws(TaskText.Failure) in try TaskText(value) }
    }
}
