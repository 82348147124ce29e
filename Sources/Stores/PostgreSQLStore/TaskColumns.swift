package import JSON
package import PostgreSQL
package import Tasks

/// The columns of a task in the order in which every statement names them.
enum TaskColumns {
    static let all = TaskItem.columns.dropFirst().names

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
        TaskDetail.allCases.map { Parameter($0.column, self[$0]) }
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

extension [Parameter] {
    /// The values of a row after its owner.
    init(_ columns: [TableColumn], _ row: [JSONValue]) {
        self = zip(columns, row).dropFirst().map { Parameter($0, $1) }
    }
}

extension Parameter {
    /// The value of a column, or NULL.
    init(_ column: TableColumn, _ value: JSONValue?) {
        switch column {
        case .integer: self = .integer(value?.integer)
        case .real: self = .real(value?.number)
        case .text: self = .text(value?.string)
        case .flag: self = .boolean(value?.boolean)
        }
    }

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
