import JSON
import PostgreSQL
import Tasks

/// The columns of a task in the order in which every statement names them.
enum TaskColumns {
    static let all = columns()

    /// The columns, with an empty text in place of a detail that is a long text.
    ///
    /// No detail is an empty text.
    static let allWithShortDetails = columns { "CASE WHEN octet_length(\($0)) > 400 THEN '' ELSE \($0) END" }

    /// The columns, without texts unless a condition is true.
    static func all(withTextsIf condition: String) -> String {
        columns(text: "CASE WHEN \(condition) THEN text ELSE '' END") { "CASE WHEN \(condition) THEN \($0) END" }
    }

    private static func columns(text: String = "text", _ detailText: (String) -> String = { $0 }) -> String {
        "id, \(text), completed, created, modified, revision, "
            + TaskDetail.list { $0.kind.longestText == nil ? $0.name : detailText($0.name) }
    }

    private static let countOfOthers = 6

    /// The bytes that the texts of a task take in its JSON at least.
    static let textBytes = texts.reduce("2 * octet_length(text)") { "\($0) + coalesce(octet_length(\($1.name)), 0)" }

    /// The details that a person writes.
    private static let texts = TaskDetail.allCases.filter { $0.kind.longestText != nil }

    /// Whether a row with ``all(withTextsIf:)`` has no text, which no task is without.
    static func lacksText(_ rows: borrowing Rows, _ row: Int) -> Bool { rows.isEmptyText(row, 1) }

    /// Whether a row with ``allWithShortDetails`` was given an empty text in place of a detail.
    static func lacksDetail(_ rows: borrowing Rows, _ row: Int) -> Bool {
        for detail in texts where rows.isEmptyText(row, countOfOthers + detail.rawValue) { return true }
        return false
    }

    /// The task in a row.
    static func item(in rows: borrowing Rows, _ row: Int, of owner: Owner) throws(ForeignValue) -> TaskItem {
        try TaskItem(
            storedID: rows.integer(row, 0), owner: owner, text: rows.text(row, 1), completed: rows.boolean(row, 2),
            created: rows.integer(row, 3), modified: rows.integer(row, 4), revision: rows.integer(row, 5),
            details: try details(in: rows, row, after: countOfOthers))
    }

    /// The details in a row, whose columns begin after that many others.
    static func details(
        in rows: borrowing Rows, _ row: Int, after columns: Int
    ) throws(ForeignValue) -> TaskDetails {
        try TaskDetails(stored: { detail in
            let column = columns + detail.rawValue
            guard !rows.isNull(row, column) else { return nil }
            switch detail.kind {
            case .date, .text: return .string(rows.text(row, column))
            case .number: return .real(rows.real(row, column))
            case .flag: return rows.boolean(row, column) ? true : nil
            }
        })
    }
}
