import Basics
import Platform
import PostgreSQL
import PostgreSQLStore
import Tasks

/// The session that exports.
struct PostgreSQLExport: ExportSource {
    let connection: PipelineConnection

    /// See ``ExportSource``; the transaction ends before the page is written.
    func page(after owner: String) throws(OperatorError) -> ExportPage {
        _ = try run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var page = ExportPage(try owners(after: owner))
        let last = page.owners.last?.owner.identifier
        page.tasks = try tasks(after: owner, through: last)
        page.records = try records(after: owner, through: last ?? owner)
        _ = try run("COMMIT")
        return page
    }

    private func run(_ sql: String, _ parameters: [Parameter] = []) throws(OperatorError) -> Rows {
        try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in try connection.run(sql, parameters) }
    }

    private func owners(after owner: String) throws(OperatorError) -> [ExportPage.OwnerRow] {
        let rows = try run(
            """
            SELECT owner, next_id, tasks FROM owners WHERE owner > $1 ORDER BY owner LIMIT \(ExportPage.most.owners)
            """, [.text(owner)])
        return try rethrowing(as: OperatorError.init) { () throws(ForeignValue) in
            var owners: [ExportPage.OwnerRow] = []
            for row in 0..<rows.count {
                let counts = try OwnerCounts(storedNext: rows.integer(row, 1), tasks: rows.integer(row, 2))
                owners.append(ExportPage.OwnerRow(owner: try Owner(stored: rows.text(row, 0)), counts: counts))
            }
            return owners
        }
    }

    /// After the last owner one task is enough: it has no owner's row.
    private func tasks(after owner: String, through last: String?) throws(OperatorError) -> [TaskItem] {
        let select = "SELECT owner, \(TaskColumns.all) FROM tasks WHERE owner > $1"
        guard let last else { return try Self.items(in: run("\(select) LIMIT 1", [.text(owner)])) }
        return try Self.items(
            in: run("\(select) AND owner <= $2 ORDER BY owner, id", [.text(owner), .text(last)]))
    }

    private func records(after owner: String, through last: String) throws(OperatorError) -> [IdempotencyRecord] {
        try Self.records(
            in: run(
                """
                SELECT \(AttemptColumns.all) FROM attempts
                WHERE owner > $1 AND owner <= $2 AND time > $3 ORDER BY owner, key
                """,
                [.text(owner), .text(last), .integer(SystemTime().wallMilliseconds - IdempotencyKey.lifetime)]))
    }

    private static func items(in rows: borrowing Rows) throws(OperatorError) -> [TaskItem] {
        try rethrowing(as: OperatorError.init) { () throws(ForeignValue) in
            var items: [TaskItem] = []
            items.reserveCapacity(rows.count)
            for row in 0..<rows.count {
                items.append(try TaskColumns.item(in: rows, row, of: Owner(stored: rows.text(row, 0)), after: 1))
            }
            return items
        }
    }

    private static func records(in rows: borrowing Rows) throws(OperatorError) -> [IdempotencyRecord] {
        try rethrowing(as: OperatorError.init) { () throws(ForeignValue) in
            var records: [IdempotencyRecord] = []
            for row in 0..<rows.count { records.append(try AttemptColumns.record(in: rows, row)) }
            return records
        }
    }
}
