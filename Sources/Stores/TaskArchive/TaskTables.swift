package import Basics
package import JSON
package import Tasks

/// The tables of a database, for commands: both kinds of database take the same statements.
///
/// The parameters of a statement are `?1`, `?2` and so on. A statement about many lines names them as a table (``source(_:)``)
/// or, if they have one column, as its values (``isLine``).
package protocol TaskTables {
    associatedtype Failure: TableFailure

    /// The lines of a statement as a table `line` with these columns, to stand after `FROM`.
    static func source(_ columns: [TableColumn]) -> String
    /// A condition on the column before it: it has the value of a line.
    static var isLine: String { get }
    /// What ends a `SELECT` whose rows nobody else may change until the transaction ends.
    static var forUpdate: String { get }
    /// Whether a transaction may change only one owner, because some partitions are on other servers.
    var isOneOwnerOnly: Bool { get }

    /// Runs a statement, and returns its rows, which have these columns.
    func run(_ sql: String, _ values: [JSONValue], giving columns: [TableColumn]) throws(Failure) -> [[JSONValue]]

    /// Runs a statement about lines: all at once or one after the other, which must make no difference.
    func run(
        _ sql: String, lines: [[JSONValue]], of lineColumns: [TableColumn], giving columns: [TableColumn]
    ) throws(Failure) -> [[JSONValue]]

    /// Runs a body that only reads, all of it on one state of the database.
    func snapshot<Outcome>(_ body: () throws(Failure) -> Outcome) throws(Failure) -> Outcome

    /// Runs a body in a transaction, again while servers are in its way; `isKept` says whether to commit.
    ///
    /// What is committed is on a disk.
    func transaction<Outcome>(
        _ body: () throws(Failure) -> (Outcome, isKept: Bool)
    ) throws(Failure) -> Outcome
}

/// The error of a statement.
package protocol TableFailure: Error {
    /// The error of a database that contradicts itself.
    static func corrupt(_ message: String) -> Self
    /// The error for the operator of a command.
    var forOperator: OperatorError { get }
}

/// What a command does with the tables of a database.
package enum TableUse {
    case read
    /// Changes tables that exist and are up to date.
    case change
    /// Adds to tables, which are made if they are missing, and brought up to date.
    case fill
}

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

    fileprivate init(_ detail: TaskDetail) {
        self =
            switch detail.kind {
            case .date, .text: .text(detail.name)
            case .number: .real(detail.name)
            case .flag: .flag(detail.name)
            }
    }
}

extension [TableColumn] {
    /// The names, separated by commas.
    package var names: String { map(\.name).joined(separator: ", ") }
}

extension TaskItem {
    /// The columns of the table `tasks` in the order in which every statement names them.
    package static let columns =
        [
            TableColumn.text("owner"), .integer("id"), .text("text"), .flag("completed"), .integer("created"),
            .integer("modified"), .integer("revision"),
        ] + TaskDetail.allCases.map { TableColumn($0) }

    init(_ row: [JSONValue]) throws(ForeignValue) {
        try self.init(
            storedID: row[1].integer ?? 0, owner: Owner(stored: row[0].string ?? ""), text: row[2].string ?? "",
            completed: row[3] == true, created: row[4].integer ?? 0, modified: row[5].integer ?? 0,
            revision: row[6].integer ?? 0, details: TaskDetails(row))
    }

    var row: [JSONValue] {
        [
            .string(owner.identifier), .integer(id), .string(text.value), .boolean(completed), .integer(created),
            .integer(modified), .integer(revision),
        ] + details.row
    }
}

extension IdempotencyRecord {
    /// The columns of the table `attempts` in the order in which every statement names them.
    package static let columns =
        [
            TableColumn.text("owner"), .text("key"), .integer("fingerprint"), .integer("time"), .integer("id"),
            .text("text"), .flag("completed"),
        ] + TaskDetail.allCases.map { TableColumn($0) }

    init(_ row: [JSONValue]) throws(ForeignValue) {
        try self.init(
            storedKey: row[1].string ?? "", fingerprint: row[2].integer ?? 0, time: row[3].integer ?? 0,
            id: row[4].integer ?? 0, owner: Owner(stored: row[0].string ?? ""), text: row[5].string ?? "",
            completed: row[6] == true, details: TaskDetails(row))
    }

    var row: [JSONValue] {
        [
            .string(item.owner.identifier), .string(key.key), .integer(Int64(bitPattern: key.fingerprint)),
            .integer(item.created), .integer(item.id), .string(item.text.value), .boolean(item.completed),
        ] + item.details.row
    }
}

extension TaskDetails {
    /// The details in the last columns of a row.
    fileprivate init(_ row: [JSONValue]) throws(ForeignValue) {
        let values = row.suffix(TaskDetail.allCases.count)
        try self.init(stored: { detail in
            let value = values[values.startIndex + detail.rawValue]
            return value == .null || value == false ? nil : value
        })
    }

    fileprivate var row: [JSONValue] { TaskDetail.allCases.map { self[$0] ?? .null } }
}
