package import JSON
package import PostgreSQL
package import Tasks

extension TaskDetails {
    /// A parameter for each detail; NULL where nothing is set.
    var parameters: [Parameter] {
        TaskDetail.allCases.map { detail in
            let value = self[detail]
            return switch detail.kind {
            case .date, .text: .text(value?.string)
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

    /// The assignments of an `UPDATE` that changes details; `new` names the parameter or column of the change.
    ///
    /// NULL keeps a value, and the mark of its kind (``DetailKind/removal``) removes it.
    static func assignments(_ new: (TaskDetail) -> String) -> String {
        list { "\($0.name) = CASE WHEN \(new($0)) IS NULL THEN \($0.name) ELSE \($0.kind.stored(new($0))) END" }
    }

    /// Whether a change makes one of the details differ.
    static func differ(_ new: (TaskDetail) -> String) -> String {
        allCases.map { "\(new($0)) IS NOT NULL AND \($0.name) IS DISTINCT FROM \($0.kind.stored(new($0)))" }
            .joined(separator: " OR ")
    }
}

extension DetailKind {
    /// The value of the column by a parameter of a change; the mark of a removal becomes NULL.
    fileprivate func stored(_ parameter: String) -> String {
        switch self {
        case .date, .text: "nullif(\(parameter), '')"
        case .number: "nullif(\(parameter), 'Infinity')"
        case .flag: "nullif(\(parameter), false)"
        }
    }
}
