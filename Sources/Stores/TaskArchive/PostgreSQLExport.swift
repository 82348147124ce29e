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
        let page = try rethrowing(as: ArchiveError.init) { () throws(PostgreSQLError) in try readPage(after: owner) }
        return try rethrowing(as: { ArchiveError.failed(reason: "\($0)") }) { () throws(StoreError) in try page.get() }
    }

    private func readPage(after owner: String) throws(PostgreSQLError) -> Result<ExportPage, StoreError> {
        _ = try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var page = ExportPage(try owners(after: owner))
        var failure: StoreError?
        let last = page.owners.last?.name
        let tasks = try tasks(after: owner, through: last)
        let records = try records(after: owner, through: last ?? owner)
        do throws(StoreError) {
            page.tasks = try Self.items(in: tasks)
            page.records = try Self.records(in: records)
        } catch {
            failure = error
        }
        _ = try connection.run("COMMIT")
        return failure.map { .failure($0) } ?? .success(page)
    }

    /// After the last owner one task is enough: it has no owner's row.
    private func tasks(after owner: String, through last: String?) throws(PostgreSQLError) -> Rows {
        let select = "SELECT owner, \(TaskColumns.all) FROM tasks WHERE owner > $1"
        guard let last else { return try connection.run("\(select) LIMIT 1", [.text(owner)]) }
        return try connection.run("\(select) AND owner <= $2 ORDER BY owner, id", [.text(owner), .text(last)])
    }

    private func records(after owner: String, through last: String) throws(PostgreSQLError) -> Rows {
        try connection.run(
            """
            SELECT owner, key, fingerprint, time, id, text, completed, due, notes, position FROM attempts
            WHERE owner > $1 AND owner <= $2 AND time > $3 ORDER BY owner, key
            """,
            [.text(owner), .text(last), .integer(SystemTime().wallMilliseconds - IdempotencyKey.lifetime)])
    }

    private func owners(after owner: String) throws(PostgreSQLError) -> [ExportPage.OwnerRow] {
        let rows = try connection.run(
            """
            SELECT owner, next_id, tasks FROM owners WHERE owner > $1 ORDER BY owner LIMIT \(ExportPage.most.owners)
            """, [.text(owner)])
        return (0..<rows.count).map { row in
            .init(name: rows.text(row, 0), next: rows.integer(row, 1), tasks: rows.integer(row, 2))
        }
    }

    private static func items(in rows: borrowing Rows) throws(StoreError) -> [TaskItem] {
        var items: [TaskItem] = []
        items.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            items.append(try TaskColumns.item(in: rows, row, of: Owner(rows.text(row, 0)), after: 1))
        }
        return items
    }

    private static func records(in rows: borrowing Rows) throws(StoreError) -> [IdempotencyRecord] {
        var records: [IdempotencyRecord] = []
        for row in 0..<rows.count {
            records.append(
                IdempotencyRecord(
                    owner: Owner(rows.text(row, 0)), key: rows.text(row, 1), fingerprint: rows.integer(row, 2),
                    time: rows.integer(row, 3), id: rows.integer(row, 4), text: try TaskColumns.text(rows.text(row, 5)),
                    completed: rows.boolean(row, 6), details: try TaskColumns.details(in: rows, row, after: 7)))
        }
        return records
    }
}
