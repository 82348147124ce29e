package import JSON
package import PostgreSQL
package import Tasks

/// The columns of a task in the order in which every statement names them.
enum TaskColumns {
    static let all = "\(others), \(TaskDetail.columns)"

    /// The columns before the details.
    static let others = "id, text, completed, created, modified, revision"

    /// The task whose columns begin at this one.
    static func item(
        in rows: borrowing Rows, _ row: Int, from first: Int = 0, of owner: Owner
    ) throws(ForeignValue) -> TaskItem {
        try TaskItem(of: owner) { rows.value(of: TaskItem.columns[$0 + 1], row, first + $0) }
    }
}

extension Rows {
    package func value(of column: TableColumn, _ row: Int, _ index: Int) -> JSONValue {
        switch column {
        case _ where isNull(row, index): .null
        case .integer: .integer(integer(row, index))
        case .real: .real(real(row, index))
        case .text: .string(text(row, index))
        case .flag: .boolean(boolean(row, index))
        }
    }
}

extension TaskDetails {
    /// A parameter for each detail; NULL where nothing is set.
    var parameters: [Parameter] {
        TaskDetail.allCases.map { detail in
            let value = self[detail]
            return switch detail.kind {
            case .date, .text, .rule: .text(value?.string)
            case .number: .real(value?.number)
            case .flag: .boolean(value?.boolean)
            }
        }
    }
}

extension [TaskDetails] {
    /// An array of values for each detail, or NULL in place of all arrays if nothing is set.
    package var parameters: [Parameter] {
        let isEmpty = allSatisfy(\.isEmpty)
        return TaskDetail.allCases.map { detail in
            Parameter(detail.column, array: isEmpty ? nil : map { $0[detail] ?? .null })
        }
    }
}

extension Parameter {
    /// The values of a column as an array, or NULL in place of the array.
    package init(_ column: TableColumn, array values: [JSONValue]?) {
        switch column {
        case .integer: self = .integers(values?.map(\.integer))
        case .real: self = .reals(values?.map(\.number))
        case .text: self = .texts(values?.map(\.string))
        case .flag: self = .booleans(values?.map(\.boolean))
        }
    }
}

extension TaskDetail {
    /// The parameters of a statement for all details, of which the first has this number.
    package static func parameters(from first: Int) -> String { list { "$\(first + $0.rawValue)" } }
}
