import Basics
package import PostgreSQL
package import Tasks

/// The columns of a task in the order in which every statement names them.
package enum TaskColumns {
    package static let all = "id, text, completed, created, modified, revision, due, notes, position"

    /// The same with an empty text, which no notes are, in place of notes of more than ``shortNotes`` bytes.
    static let allWithShortNotes = """
        id, text, completed, created, modified, revision, due,
            CASE WHEN octet_length(notes) > \(shortNotes) THEN '' ELSE notes END, position
        """

    private static let shortNotes = 400

    /// Whether notes of a row with ``allWithShortNotes`` were longer.
    static func lacksNotes(_ rows: borrowing Rows, _ row: Int) -> Bool { rows.isEmptyText(row, 7) }

    /// The task in a row, whose columns begin after that many others.
    package static func item(
        in rows: borrowing Rows, _ row: Int, of owner: Owner, after columns: Int = 0
    ) throws(StoreError) -> TaskItem {
        TaskItem(
            id: rows.integer(row, columns), owner: owner, text: try text(rows.text(row, columns + 1)),
            completed: rows.boolean(row, columns + 2), created: rows.integer(row, columns + 3),
            modified: rows.integer(row, columns + 4), revision: rows.integer(row, columns + 5),
            details: try details(in: rows, row, after: columns + 6))
    }

    /// What is set of the details, whose three columns begin after that many others.
    package static func details(
        in rows: borrowing Rows, _ row: Int, after columns: Int
    ) throws(StoreError) -> TaskDetails {
        var details = TaskDetails()
        if !rows.isNull(row, columns) {
            guard let due = DueDate(rows.text(row, columns)) else { throw foreign("date") }
            details.due = due
        }
        if !rows.isNull(row, columns + 1) {
            do throws(TaskText.Failure) {
                details.notes = try TaskNotes(rows.text(row, columns + 1))
            } catch {
                throw foreign("text")
            }
        }
        if !rows.isNull(row, columns + 2) {
            guard let position = TaskPosition(rows.real(row, columns + 2)) else { throw foreign("position") }
            details.position = position
        }
        return details
    }

    private static func foreign(_ kind: String) -> StoreError {
        .broken(reason: "a \(kind) in the table of tasks is not one that task-server writes")
    }

    /// A text that this program wrote; another program may have written another.
    package static func text(_ value: String) throws(StoreError) -> TaskText {
        try rethrowing(as: {
            StoreError.broken(reason: "a text in the table of tasks is not one that task-server writes: \($0)")
        }) { () throws(TaskText.Failure) in try TaskText(value) }
    }
}
