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

    /// The same, without texts and notes unless a condition is true.
    static func all(withTextsIf condition: String) -> String {
        """
        id, CASE WHEN \(condition) THEN text ELSE '' END, completed, created, modified, revision, due,
            CASE WHEN \(condition) THEN notes END, position
        """
    }

    /// Whether a row with ``all(withTextsIf:)`` has no text, which no task is without.
    static func lacksText(_ rows: borrowing Rows, _ row: Int) -> Bool { rows.isEmptyText(row, 1) }

    /// Whether notes of a row with ``allWithShortNotes`` were longer.
    static func lacksNotes(_ rows: borrowing Rows, _ row: Int) -> Bool { rows.isEmptyText(row, 7) }

    /// The task in a row, whose columns begin after that many others.
    package static func item(
        in rows: borrowing Rows, _ row: Int, of owner: Owner, after columns: Int = 0
    ) throws(ForeignValue) -> TaskItem {
        try TaskItem(
            storedID: rows.integer(row, columns), owner: owner, text: rows.text(row, columns + 1),
            completed: rows.boolean(row, columns + 2), created: rows.integer(row, columns + 3),
            modified: rows.integer(row, columns + 4), revision: rows.integer(row, columns + 5),
            details: try details(in: rows, row, after: columns + 6))
    }

    /// What is set of the details, whose three columns begin after that many others.
    package static func details(
        in rows: borrowing Rows, _ row: Int, after columns: Int
    ) throws(ForeignValue) -> TaskDetails {
        try TaskDetails(
            storedDue: rows.isNull(row, columns) ? nil : rows.text(row, columns),
            notes: rows.isNull(row, columns + 1) ? nil : rows.text(row, columns + 1),
            position: rows.isNull(row, columns + 2) ? nil : rows.real(row, columns + 2))
    }
}
