import PostgreSQLStore
import Platform
import PostgreSQL
import Tasks

/// The people of a PostgreSQL database, page by page.
struct PostgreSQLExport: ExportSource {
    let connection: PipelineConnection

    /// See ``ExportSource``; the transaction ends before anybody reads the page.
    func page(after owner: String) throws(ArchiveError) -> ExportPage {
        let read = try ArchiveError.postgresql { () throws(PostgreSQLError) in try readPage(after: owner) }
        do throws(StoreError) { return try read.get() } catch { throw .failed(reason: "\(error)") }
    }

    private func readPage(after owner: String) throws(PostgreSQLError) -> Result<ExportPage, StoreError> {
        _ = try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var page = ExportPage(try people(after: owner))
        var failure: StoreError?
        let last = page.people.last?.name
        let rows = try tasks(after: owner, through: last)
        let attempts = try attempts(after: owner, through: last ?? owner)
        do throws(StoreError) {
            page.tasks = try Self.items(in: rows)
            page.attempts = try Self.attempts(in: attempts)
        } catch {
            failure = error
        }
        _ = try connection.run("COMMIT")
        return failure.map { .failure($0) } ?? .success(page)
    }

    /// Behind the last person one is enough: it has no owner.
    private func tasks(after owner: String, through last: String?) throws(PostgreSQLError) -> Rows {
        let words = "SELECT owner, \(TaskColumns.all) FROM tasks WHERE owner > $1"
        guard let last else { return try connection.run("\(words) LIMIT 1", [.text(owner)]) }
        return try connection.run("\(words) AND owner <= $2 ORDER BY owner, id", [.text(owner), .text(last)])
    }

    private func attempts(after owner: String, through last: String) throws(PostgreSQLError) -> Rows {
        try connection.run(
            """
            SELECT key, fingerprint, id, text, completed, time, owner FROM attempts
            WHERE owner > $1 AND owner <= $2 AND time > $3 ORDER BY owner, key
            """,
            [.text(owner), .text(last), .integer(SystemTime().wallMilliseconds - IdempotencyKey.lifetime)])
    }

    private func people(after owner: String) throws(PostgreSQLError) -> [ExportPage.Person] {
        let rows = try connection.run(
            """
            SELECT owner, next_id, tasks FROM owners WHERE owner > $1 ORDER BY owner LIMIT \(ExportPage.most.people)
            """, [.text(owner)])
        var people: [ExportPage.Person] = []
        for row in 0..<rows.count {
            people.append(.init(name: rows.text(row, 0), next: rows.integer(row, 1), tasks: rows.integer(row, 2)))
        }
        return people
    }

    private static func items(in rows: borrowing Rows) throws(StoreError) -> [TaskItem] {
        var items: [TaskItem] = []
        items.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            items.append(try TaskColumns.item(in: rows, row, of: Owner(rows.text(row, 0)), behind: 1))
        }
        return items
    }

    private static func attempts(in rows: borrowing Rows) throws(StoreError) -> [Attempt] {
        var attempts: [Attempt] = []
        for row in 0..<rows.count {
            let key = IdempotencyKey(key: rows.text(row, 0), fingerprint: UInt64(bitPattern: rows.integer(row, 1)))
            let added = rows.integer(row, 5)
            let item = TaskItem(
                id: rows.integer(row, 2), owner: Owner(rows.text(row, 6)),
                text: try TaskColumns.text(rows.text(row, 3)), completed: rows.boolean(row, 4), created: added,
                modified: added)
            attempts.append(Attempt(key: key, item: item))
        }
        return attempts
    }
}
