import Basics
import JSON
package import SQLite
package import Tasks

/// The columns of a task in the order in which every statement names them.
package enum TaskRow {
    /// The number of these columns.
    ///
    /// What a statement selects in addition follows them.
    package static let count = 6 + TaskDetails.parameterCount
    package static let columns = "id, text, completed, created, modified, revision, \(TaskDetail.columns)"

    package static let insert = "INSERT INTO tasks(owner, \(columns)) VALUES (\(parameters(1 + count)))"

    /// This many parameters, separated by commas.
    static func parameters(_ count: Int32) -> String {
        repeatElement("?", count: Int(count)).joined(separator: ", ")
    }

    /// Gives a task to ``insert``.
    package static func bind(_ item: TaskItem, to statement: borrowing Statement) throws(SQLiteError) {
        try statement.bind(
            item.owner.identifier, item.id, item.text.value, item.completed, item.created, item.modified, item.revision,
            item.details)
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

    /// The details in the current row of a statement, whose columns begin with this one.
    static func details(in row: borrowing Statement, from column: Int32) throws(SQLiteError) -> TaskDetails {
        try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try TaskDetails(stored: { detail in
                let column = column + Int32(detail.rawValue)
                guard !row.isNull(column) else { return nil }
                switch detail.kind {
                case .date, .text: return .string(row.text(column))
                case .number: return .real(row.real(column))
                case .flag: return row.integer(column) == 0 ? nil : true
                }
            })
        }
    }
}

extension TaskDetails: Bindable {
    package static var parameterCount: Int32 { Int32(TaskDetail.allCases.count) }

    package func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError) {
        for member in members {
            let index = index + Int32(member.detail.rawValue)
            switch member.detail.kind {
            case .date, .text: try member.value.string.bind(to: statement, at: index)
            case .number: try member.value.number.bind(to: statement, at: index)
            case .flag: try member.value.boolean.bind(to: statement, at: index)
            }
        }
    }
}
