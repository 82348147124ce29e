package import JSON

/// A column of a table or of a result, with its kind of value.
package enum TableColumn: Sendable {
    case integer(String)
    case real(String)
    case text(String)
    case flag(String)

    package var name: String {
        switch self {
        case .integer(let name), .real(let name), .text(let name), .flag(let name): name
        }
    }
}

extension Sequence<TableColumn> {
    /// The names, separated by commas.
    package var names: String { map(\.name).joined(separator: ", ") }
}

extension TaskDetail {
    /// The column of the detail in both databases.
    package var column: TableColumn {
        switch kind {
        case .date, .text: .text(name)
        case .number: .real(name)
        case .flag: .flag(name)
        }
    }
}

extension TaskItem {
    /// The columns of the table `tasks` in the order in which every statement names them.
    package static let columns =
        [
            TableColumn.text("owner"), .integer("id"), .text("text"), .flag("completed"), .integer("created"),
            .integer("modified"), .integer("revision"),
        ] + TaskDetail.allCases.map(\.column)

    /// A task that was stored; `value` gives the value of a column by its number, which counts from 0 after the owner.
    package init(of owner: Owner, stored value: (Int) -> JSONValue) throws(ForeignValue) {
        guard let id = value(0).integer, id.isTaskNumber, let created = value(3).integer, created.isTime,
            let modified = value(4).integer, modified.isTime, let revision = value(5).integer, revision.isTaskNumber
        else { throw .number }
        self.init(
            id: id, owner: owner, text: try TaskText(stored: value(1)), completed: value(2).boolean == true,
            created: created, modified: modified, revision: revision,
            details: try TaskDetails(stored: { value(6 + $0.rawValue) }))
    }
}

extension IdempotencyRecord {
    /// The columns of the table `attempts` in the order in which every statement names them.
    package static let columns =
        [
            TableColumn.text("owner"), .text("key"), .integer("fingerprint"), .integer("time"), .integer("id"),
            .text("text"), .flag("completed"),
        ] + TaskDetail.allCases.map(\.column)

    /// A record that was stored; `value` is as for a task.
    ///
    /// The fingerprint has the bits of its unsigned value. The time is that of the addition, in milliseconds since 1970, UTC.
    package init(of owner: Owner, stored value: (Int) -> JSONValue) throws(ForeignValue) {
        guard let key = value(0).string, IdempotencyKey.isKey(key) else { throw .key }
        let item = try TaskItem(of: owner) { column in
            switch column {
            case 0: value(3)
            case 1, 2: value(column + 3)
            case 3, 4: value(2)
            case 5: 1
            // The details have the same places in both tables.
            default: value(column)
            }
        }
        self.init(
            key: IdempotencyKey(key: key, fingerprint: UInt64(bitPattern: value(1).integer ?? 0)), item: item)
    }
}
