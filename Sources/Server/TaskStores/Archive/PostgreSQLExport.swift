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
        if let last = page.people.last {
            let rows = try connection.run(
                "SELECT owner, \(TaskColumns.all) FROM tasks WHERE owner > $1 AND owner <= $2 ORDER BY owner, id",
                [.text(owner), .text(last.name)])
            do throws(StoreError) { page.tasks = try Self.items(in: rows) } catch { failure = error }
        }
        _ = try connection.run("COMMIT")
        return failure.map { .failure($0) } ?? .success(page)
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
}
