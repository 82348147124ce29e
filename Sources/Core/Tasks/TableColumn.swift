import Basics
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
        case .date, .text, .rule: .text(name)
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

    /// The values of ``columns``.
    package var row: [JSONValue] {
        [
            .string(owner.identifier), .integer(id), .string(text.value), .boolean(completed), .integer(created),
            .integer(modified), .integer(revision),
        ] + details.row
    }

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

    /// The values of ``columns``.
    package var row: [JSONValue] {
        [
            .string(item.owner.identifier), .string(key.key), .integer(Int64(bitPattern: key.fingerprint)),
            .integer(item.created), .integer(item.id), .string(item.text.value), .boolean(item.completed),
        ] + item.details.row
    }

    /// A record that was stored; `value` is as for a task.
    ///
    /// The fingerprint has the bits of its unsigned value. The time is that of the addition, in milliseconds since
    /// 1970, UTC.
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

/// A value in a database that task-server does not write: another program has written it, or it is damaged.
///
/// An import refuses the same values, so that everything that is stored can be exported, and imported again.
package struct ForeignValue: Error, Sendable, Equatable {
    /// The fault in words for a person, without the value itself.
    package let message: String

    package init(message: String) { self.message = message }

    fileprivate init(_ kind: String, table: String = "tasks", _ reason: String = "") {
        message = "a \(kind) in the table of \(table) is not one that task-server writes\(reason)"
    }

    package static let number = ForeignValue("number")
    static let key = ForeignValue("row", table: "idempotency keys")
    fileprivate static let owner = ForeignValue("name", table: "owners")
    fileprivate static let count = ForeignValue("number", table: "owners")
    /// No id is left after those that an owner has given.
    package static let lastID = ForeignValue("next id", table: "owners", ": it would be beyond the greatest")
}

extension Int64 {
    /// The greatest id and the greatest revision: every reader of JSON takes whole numbers up to this one exactly.
    package static let greatestTaskNumber: Int64 = (1 << 53) - 1

    /// Whether this can be the id of a task, or a revision.
    package var isTaskNumber: Bool { (1...Self.greatestTaskNumber).contains(self) }

    /// Whether this can be the next id of an owner, which is beyond the greatest id once that id is given.
    package var isNextID: Bool { (1...Self.greatestTaskNumber + 1).contains(self) }

    /// The revision after this one; the first revision follows the greatest.
    package var nextRevision: Int64 { self % Self.greatestTaskNumber + 1 }

    /// Whether a server can show this time, in milliseconds since 1970, without changing it.
    var isTime: Bool { Timestamp(milliseconds: self).milliseconds == self }
}

extension Owner {
    /// The most bytes of an owner: a claim has up to 256 bytes (V-57), and the namespace before it has up to 17.
    package static let longest = 256 + 17

    /// The owner of this name, if a token can name it.
    package init?(checked name: String) {
        guard (1...Self.longest).contains(name.utf8.count), !name.hasControlCharacter else { return nil }
        self.init(name)
    }

    package init(stored name: String) throws(ForeignValue) {
        guard let owner = Owner(checked: name) else { throw .owner }
        self = owner
    }
}

/// The counts of an owner in the table `owners`.
package struct OwnerCounts: Sendable, Equatable {
    /// The next id.
    package let next: Int64
    /// The number of the owner's tasks.
    package let tasks: Int64

    /// The counts of an owner whom the database does not know.
    package static let none = OwnerCounts(next: 1, tasks: 0)

    private init(next: Int64, tasks: Int64) { (self.next, self.tasks) = (next, tasks) }

    /// Counts that were stored; their sums over many owners fit into 64 bits.
    package init(storedNext next: Int64, tasks: Int64) throws(ForeignValue) {
        guard next.isNextID, (0...Int64(Int32.max)).contains(tasks) else { throw .count }
        self.init(next: next, tasks: tasks)
    }
}

extension TaskText {
    init(stored value: JSONValue) throws(ForeignValue) {
        self = try rethrowing(as: { ForeignValue("text", ": \($0)") }) { () throws(TaskText.Failure) in
            try TaskText(value.string ?? "")
        }
    }
}

extension TaskDetails {
    fileprivate var row: [JSONValue] { TaskDetail.allCases.map { self[$0] ?? .null } }

    /// Details that were stored; `value` gives the value of a detail's column.
    init(stored value: (TaskDetail) -> JSONValue) throws(ForeignValue) {
        self.init()
        for detail in TaskDetail.allCases {
            let stored = value(detail)
            if stored == .null || stored == false { continue }
            guard let checked = detail.kind.checked(stored) else { throw ForeignValue("value of \(detail.name)") }
            self[detail] = checked
        }
    }
}
