package import Basics
import JSON
package import PostgreSQL
import PostgreSQLStore
import Tasks

/// The tables of a PostgreSQL database, in one session.
///
/// Each change of a list gives it a new change number or origin, so that servers do not answer it from memory.
struct PostgreSQLTables: TaskTables {
    private let connection: PipelineConnection
    let isOneOwnerOnly: Bool

    init(_ connectionString: String, for use: TableUse) throws(OperatorError) {
        let database = try PostgreSQLDatabase(connectionString, onlyReads: use == .read)
        if use == .fill { _ = try database.prepare(partitions: nil) }
        let connection = try database.connectUpToDate()
        isOneOwnerOnly = try database.translating { () throws(PostgreSQLError) in
            try PostgreSQLSchema.division(on: connection).isDistributed
        }
        self.connection = connection
    }

    static func source(_ columns: [TableColumn]) -> String {
        let arrays = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        return "unnest(\(arrays)) AS line(\(columns.names))"
    }

    static let isLine = "= ANY (?1)"
    static let forUpdate = "FOR UPDATE"
    static let newOrigin = PostgreSQLSchema.newOrigin

    func run(
        _ sql: String, _ values: [JSONValue], giving columns: [TableColumn]
    ) throws(PostgreSQLError) -> [[JSONValue]] {
        try run(sql, values.map { Parameter($0) }, columns)
    }

    func run(
        _ sql: String, lines: [[JSONValue]], of lineColumns: [TableColumn], giving columns: [TableColumn]
    ) throws(PostgreSQLError) -> [[JSONValue]] {
        let arrays = lineColumns.enumerated().map { (index, column) in
            Parameter(column, array: lines.map { $0[index] })
        }
        return try run(sql, arrays, columns)
    }

    private func run(
        _ sql: String, _ parameters: [Parameter], _ columns: [TableColumn]
    ) throws(PostgreSQLError) -> [[JSONValue]] {
        let bytes = sql.utf8.map { $0 == UInt8(ascii: "?") ? UInt8(ascii: "$") : $0 }
        let rows = try connection.run(String(decoding: bytes, as: UTF8.self), parameters)
        var found: [[JSONValue]] = []
        for row in 0..<rows.count {
            found.append(columns.enumerated().map { rows.value(of: $1, row, $0) })
        }
        return found
    }

    func snapshot<Outcome>(_ body: () throws(PostgreSQLError) -> Outcome) throws(PostgreSQLError) -> Outcome {
        _ = try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let outcome = try body()
        _ = try connection.run("COMMIT")
        return outcome
    }

    func transaction<Outcome>(_ body: () throws(PostgreSQLError) -> Outcome) throws(PostgreSQLError) -> Outcome {
        try connection.retrying(atMost: 50, pause: { UInt64($0) * 2_000_000 }) { () throws(PostgreSQLError) in
            _ = try connection.run(TaskStatement.begin.sql)
            // Each statement has a minute.
            _ = try connection.run(TaskStatement.guarantee.sql, [.text("60000")])
            let outcome = try body()
            _ = try connection.run("COMMIT")
            return outcome
        }
    }
}

extension PostgreSQLError: TableFailure {
    package static func corrupt(_ message: String) -> PostgreSQLError {
        PostgreSQLError(sqlState: nil, message: message)
    }

    package var forOperator: OperatorError { OperatorError(self) }
}

extension Parameter {
    fileprivate init(_ value: JSONValue) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .boolean(let value): self = .boolean(value)
        case .string, .null, .array, .object: self = .text(value.string)
        }
    }
}
