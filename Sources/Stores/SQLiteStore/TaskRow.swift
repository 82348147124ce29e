import Basics
package import JSON
package import SQLite
package import Tasks

/// The parts of statements about a task, whose columns are in the order of ``Tasks/TaskItem/columns``.
enum TaskRow {
    /// The columns without the owner.
    static let columns = TaskItem.columns.dropFirst().names

    /// This many parameters, separated by commas.
    static func parameters(_ count: Int) -> String {
        repeatElement("?", count: count).joined(separator: ", ")
    }

    static let find = "SELECT \(columns) FROM tasks WHERE owner = ?1 AND id = ?2"

    static func find(
        _ id: Int64, of owner: Owner, with statement: borrowing SQLiteStatement
    ) throws(SQLiteError) -> TaskItem? {
        defer { statement.reset() }
        try statement.bind(owner.identifier, id)
        return try statement.step() ? item(in: statement, of: owner) : nil
    }

    static func item(in row: borrowing SQLiteStatement, of owner: Owner) throws(SQLiteError) -> TaskItem {
        try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try TaskItem(of: owner) { row.value(of: TaskItem.columns[$0 + 1], at: Int32($0)) }
        }
    }
}

extension SQLiteStatement {
    package func value(of column: TableColumn, at index: Int32) -> JSONValue {
        switch column {
        case _ where isNull(index): .null
        case .integer: .integer(integer(index))
        case .real: .real(real(index))
        case .text: .string(text(index))
        case .flag: .boolean(integer(index) != 0)
        }
    }
}

extension JSONValue: Bindable {
    package func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError) {
        switch self {
        case .integer(let value): try value.bind(to: statement, at: index)
        case .real(let value): try value.bind(to: statement, at: index)
        case .string(let value): try value.bind(to: statement, at: index)
        case .boolean(let value): try value.bind(to: statement, at: index)
        case .null, .array, .object: try Int64?.none.bind(to: statement, at: index)
        }
    }
}

extension TaskDetails: Bindable {
    package static var parameterCount: Int32 { Int32(TaskDetail.allCases.count) }

    package func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError) {
        for member in members { try member.value.bind(to: statement, at: index + Int32(member.detail.rawValue)) }
    }
}
