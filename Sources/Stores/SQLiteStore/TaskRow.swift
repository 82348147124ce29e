import Basics
package import JSON
package import SQLite
package import Tasks

/// The parts of statements about a task, whose columns are in the order of ``Tasks/TaskItem/columns``.
enum TaskRow {
    /// The columns without the owner.
    static let columns = TaskItem.columns.dropFirst().names

    /// The parameters of these numbers, separated by commas.
    static func parameters(_ numbers: ClosedRange<Int>) -> String {
        numbers.map { "?\($0)" }.joined(separator: ", ")
    }

    static let find = "SELECT \(columns) FROM tasks WHERE owner = ?1 AND id = ?2"

    static func find(
        _ id: Int64, of owner: Owner, with statement: borrowing SQLiteStatement
    ) throws(SQLiteError) -> Result<TaskItem, ForeignValue>? {
        defer { statement.reset() }
        try statement.bind(owner.identifier, id)
        guard try statement.step() else { return nil }
        do throws(ForeignValue) { return .success(try item(in: statement, of: owner)) } catch { return .failure(error) }
    }

    static func item(in row: borrowing SQLiteStatement, of owner: Owner) throws(ForeignValue) -> TaskItem {
        try TaskItem(of: owner) { row.value(of: TaskItem.columns[$0 + 1], at: Int32($0)) }
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

    /// Binds the values of a row to the parameters in their order.
    package func bind(row: [JSONValue]) throws(SQLiteError) {
        for (value, index) in zip(row, Int32(1)...) {
            switch value {
            case .integer(let value): try value.bind(to: self, at: index)
            case .real(let value): try value.bind(to: self, at: index)
            case .string(let value): try value.bind(to: self, at: index)
            case .boolean(let value): try value.bind(to: self, at: index)
            case .null, .array, .object: break
            }
        }
    }

    /// Runs a statement that writes a row.
    func run(row: [JSONValue]) throws(SQLiteError) {
        defer { reset() }
        try bind(row: row)
        _ = try step()
    }
}

extension TaskItem {
    /// The values of a row of `tasks`: those of ``row``, and the change number.
    func row(change: Int64) -> [JSONValue] { row + [.integer(change)] }
}
