import Basics
import Platform
import PostgreSQL
import PostgreSQLStore
import Tasks

/// The session that exports.
struct PostgreSQLExport: ExportSource {
    let connection: PipelineConnection

    /// See ``ExportSource``; the transaction ends before the page is written.
    func page(after owner: String) throws(ArchiveError) -> ExportPage {
        _ = try run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var page = ExportPage(try owners(after: owner))
        let last = page.owners.last?.name
        page.tasks = try tasks(after: owner, through: last)
        page.records = try records(after: owner, through: last ?? owner)
        _ = try run("COMMIT")
        return page
    }

    private func run(_ sql: String, _ parameters: [Parameter] = []) throws(ArchiveError) -> Rows {
        try rethrowing(as: ArchiveError.init) { () throws(PostgreSQLError) in try connection.run(sql, parameters) }
    }

    private func owners(after owner: String) throws(ArchiveError) -> [ExportPage.OwnerRow] {
        let rows = try run(
            """
            SELECT owner, next_id, tasks FROM owners WHERE owner > $1 ORDER BY owner LIMIT \(ExportPage.most.owners)
            """, [.text(owner)])
        return (0..<rows.count).map { row in
            .init(name: rows.text(row, 0), next: rows.integer(row, 1), tasks: rows.integer(row, 2))
        }
    }

    /// After the last owner one task is enough: it has no owner's row.
    private func tasks(after owner: String, through last: String?) throws(ArchiveError) -> [TaskItem] {
        let select = "SELECT owner, \(TaskColumns.all) FROM tasks WHERE owner > $1"
        guard let last else { return try Self.items(in: run("\(select) LIMIT 1", [.text(owner)])) }
        return try Self.items(
            in: run("\(select) AND owner <= $2 ORDER BY owner, id", [.text(owner), .text(last)]))
    }

    private func records(after owner: String, through last: String) throws(ArchiveError) -> [IdempotencyRecord] {
        try Self.records(
            in: run(
                """
                SELECT \(AttemptColumns.all) FROM attempts
                WHERE owner > $1 AND owner <= $2 AND time > $3 ORDER BY owner, key
                """,
                [.text(owner), .text(last), .integer(SystemTime().wallMilliseconds - IdempotencyKey.lifetime)]))
    }

    private static func items(in rows: borrowing Rows) throws(ArchiveError) -> [TaskItem] {
        try rethrowing(as: ArchiveError.init) { () throws(ForeignValue) in
            var items: [TaskItem] = []
            items.reserveCapacity(rows.count)
            for row in 0..<rows.count {
                items.append(try TaskColumns.item(in: rows, row, of: Owner(rows.text(row, 0)), after: 1))
            }
            return items
        }
    }

    private static func records(in rows: borrowing Rows) throws(ArchiveError) -> [IdempotencyRecord] {
        try rethrowing(as: ArchiveError.init) { () throws(ForeignValue) in
            var records: [IdempotencyRecord] = []
            for row in 0..<rows.count {
                records.append(
                    IdempotencyRecord(
                        owner: Owner(rows.text(row, 0)), key: rows.text(row, 1), fingerprint: rows.integer(row, 2),
                        time: rows.integer(row, 3), id: rows.integer(row, 4),
                        text: try TaskText(stored: rows.text(row, 5)), completed: rows.boolean(row, 6),
                        details: try TaskColumns.details(in: rows, row, after: 7)))
            }
            return records
        }
    }
}
