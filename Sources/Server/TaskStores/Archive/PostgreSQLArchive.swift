public import Platform
import PostgreSQL
import Tasks

/// Copies of a PostgreSQL database line by line, also while servers work on it; the lines are those of ``TaskArchive``.
///
/// Every method blocks until it is done.
public struct PostgreSQLArchive: LineArchive {
    private let connectionString: String

    /// The database that a connection string of libpq names.
    public init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// Hands every task over as one line of JSON, as ``TaskArchive/export(to:)`` does; the number of tasks.
    public func export(to output: ([UInt8]) throws(SystemError) -> Void) throws(ArchiveError) -> Int {
        let connection = try connect()
        var count = 0
        var last = (owner: "", id: Int64(0))
        while true {
            let page = try tasks(after: last, on: connection)
            for item in page { try write(.task(item), to: output) }
            guard let end = page.last else { break }
            (count, last) = (count + page.count, (end.owner.identifier, end.id))
        }
        try exportOwners(on: connection, to: output)
        return count
    }

    private func tasks(
        after last: (owner: String, id: Int64), on connection: PipelineConnection
    ) throws(ArchiveError) -> [TaskItem] {
        let rows = try database { () throws(PostgreSQLError) in
            try connection.run(
                """
                SELECT owner, \(TaskColumns.all) FROM tasks WHERE (owner, id) > ($1, $2) ORDER BY owner, id LIMIT 500
                """, [.text(last.owner), .integer(last.id)])
        }
        var items: [TaskItem] = []
        do throws(StoreError) {
            for row in 0..<rows.count {
                items.append(try TaskColumns.item(in: rows, row, of: Owner(rows.text(row, 0)), behind: 1))
            }
        } catch {
            throw .failed(reason: "\(error)")
        }
        return items
    }

    private func exportOwners(
        on connection: PipelineConnection, to output: ([UInt8]) throws(SystemError) -> Void
    ) throws(ArchiveError) {
        var last = ""
        while true {
            let rows = try database { () throws(PostgreSQLError) in
                try connection.run(
                    """
                    SELECT owner, next_id FROM owners WHERE owner > $1 AND next_id >
                        1 + coalesce((SELECT max(id) FROM tasks WHERE tasks.owner = owners.owner), 0)
                    ORDER BY owner LIMIT 500
                    """, [.text(last)])
            }
            for row in 0..<rows.count {
                try write(.owner(Owner(rows.text(row, 0)), next: rows.integer(row, 1)), to: output)
            }
            guard rows.count > 0 else { return }
            last = rows.text(rows.count - 1, 0)
        }
    }

    /// Adds the lines of an export, as ``TaskArchive/importLines(_:)`` does; repeating it changes nothing, so an import
    /// that was interrupted is done again from the start.
    ///
    /// - Parameter nextLine: the next line without its end; nil at the end.
    /// - Returns: how many tasks were new, and how many were there.
    /// - Throws: ``ArchiveError``; with `line`, what stood before that line is in.
    public func importLines(
        _ nextLine: () throws(SystemError) -> [UInt8]?
    ) throws(ArchiveError) -> ImportSummary {
        let database = try opening { () throws(StoreOpenError) in try StoreDatabase(connectionString) }
        let facts = try opening { () throws(StoreOpenError) in try database.prepare(partitions: nil) }
        let connection = try opening { () throws(StoreOpenError) in try database.connect() }
        var summary = ImportSummary()
        var number = 0
        while true {
            let chunk = try ArchiveChunk.next(&number, nextLine)
            for group in groups(chunk.lines, oneOwnerEach: facts.isForeign) { try add(group, on: connection, &summary) }
            if let fault = chunk.fault { throw fault }
            guard !chunk.isLast else { return summary }
        }
    }

    /// The lines of each transaction, by owners in the order in which servers lock them.
    private func groups(_ lines: [ArchiveLine], oneOwnerEach: Bool) -> [[OwnersLines]] {
        var byOwner: [String: OwnersLines] = [:]
        for line in lines {
            switch line {
            case .task(let item): byOwner[item.owner.identifier, default: OwnersLines()].add(item)
            case .owner(let owner, let next): byOwner[owner.identifier, default: OwnersLines()].add(owner, next)
            }
        }
        let all = byOwner.values.sorted { $0.owner.utf8.lexicographicallyPrecedes($1.owner.utf8) }
        return oneOwnerEach ? all.map { [$0] } : (all.isEmpty ? [] : [all])
    }

    private func add(
        _ owners: [OwnersLines], on connection: PipelineConnection, _ summary: inout ImportSummary
    ) throws(ArchiveError) {
        let added = try database { () throws(PostgreSQLError) in
            _ = try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED")
            do throws(PostgreSQLError) {
                var added = 0
                for lines in owners { added += try lines.insert(on: connection) }
                _ = try connection.run("COMMIT")
                return added
            } catch {
                _ = try? connection.run("ROLLBACK")
                throw error
            }
        }
        summary.added += added
        summary.present += owners.reduce(0) { $0 + $1.items.count } - added
    }

    private func connect() throws(ArchiveError) -> PipelineConnection {
        try opening { () throws(StoreOpenError) in
            let database = try StoreDatabase(connectionString)
            guard try database.checkedVersion() == StoreSchema.known else {
                throw .refused(
                    "the database \(database.name) has no tables of this task-server; there is nothing to export")
            }
            return try database.connect()
        }
    }

    private func write(
        _ line: ArchiveLine, to output: ([UInt8]) throws(SystemError) -> Void
    ) throws(ArchiveError) {
        do throws(SystemError) { try output(line.json) } catch { throw .file(error) }
    }

    private func opening<Outcome>(_ body: () throws(StoreOpenError) -> Outcome) throws(ArchiveError) -> Outcome {
        do throws(StoreOpenError) { return try body() } catch { throw .database(error) }
    }

    private func database<Outcome: ~Copyable>(
        _ body: () throws(PostgreSQLError) -> Outcome
    ) throws(ArchiveError) -> Outcome {
        do throws(PostgreSQLError) {
            return try body()
        } catch {
            throw error.kind == .full ? .full : .failed(reason: error.description)
        }
    }
}

/// What an import brings for one owner.
private struct OwnersLines {
    private(set) var owner = ""
    private(set) var items: [TaskItem] = []
    private var next: Int64 = 1

    mutating func add(_ item: TaskItem) {
        owner = item.owner.identifier
        items.append(item)
        next = max(next, item.id + 1)
    }

    mutating func add(_ owner: Owner, _ next: Int64) {
        self.owner = owner.identifier
        self.next = max(self.next, next)
    }

    /// The number of tasks that were not there.
    func insert(on connection: PipelineConnection) throws(PostgreSQLError) -> Int {
        let name = Parameter.text(owner)
        _ = try connection.run(TaskStatement.makeOwner.sql, [name])
        _ = try connection.run(TaskStatement.lockOwner.sql, [name])
        let added = try connection.run(
            """
            WITH added AS (
                INSERT INTO tasks(owner, \(TaskColumns.all))
                SELECT $1, line.* FROM unnest($2, $3, $4, $5, $6, $7) AS line
                ON CONFLICT DO NOTHING RETURNING id
            ) SELECT count(*) FROM added
            """,
            [
                name, .integers(items.map(\.id)), .texts(items.map(\.text.value)), .booleans(items.map(\.completed)),
                .integers(items.map(\.created)), .integers(items.map(\.modified)), .integers(items.map(\.revision)),
            ]
        ).integer(0, 0)
        _ = try connection.run(
            "UPDATE owners SET next_id = greatest(next_id, $2), tasks = tasks + $3 WHERE owner = $1",
            [name, .integer(next), .integer(added)])
        return Int(added)
    }
}
