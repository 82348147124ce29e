import Basics
import Platform
import PostgreSQL
import PostgreSQLStore
import Tasks

/// The session that imports lines, those of many owners with each statement.
struct PostgreSQLImport: ImportTarget {
    let connection: PipelineConnection
    /// Some partitions are on other servers.
    let isForeign: Bool

    /// See ``ImportTarget``: in one transaction, or one for each owner, as a commit on several servers is not atomic.
    func add(_ owners: [OwnerLines], _ summary: inout ImportSummary) throws(OperatorError) {
        for group in isForeign ? owners.map({ [$0] }) : [owners] {
            try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in try addAtOnce(group, &summary) }
        }
    }

    /// Writes nothing if all lines are imported already.
    private func addAtOnce(_ owners: [OwnerLines], _ summary: inout ImportSummary) throws(PostgreSQLError) {
        let lines = ImportParameters(owners)
        let count = owners.reduce(0) { $0 + $1.items.count }
        if try hasOwners(of: lines), try hasKeys(of: lines) {
            let (present, same) = try compare(lines)
            if present == count {
                summary.present += count
                summary.differing += count - same
                return
            }
        }
        let added = try insert(lines)
        summary.added += added
        summary.present += count - added
        if added < count { summary.differing += count - (try compare(lines).same) }
    }

    /// Whether all owners exist, and will give no id of these lines again.
    private func hasOwners(of lines: ImportParameters) throws(PostgreSQLError) -> Bool {
        let rows = try connection.run(
            """
            SELECT count(*) FROM unnest($1, $2) AS line(owner, next), LATERAL (
                SELECT FROM owners o WHERE o.owner = line.owner AND o.next_id >= line.next LIMIT 1) AS known
            """, [lines.owners, lines.nexts])
        return rows.integer(0, 0) == lines.ownerCount
    }

    /// Whether all idempotency keys are remembered.
    private func hasKeys(of lines: ImportParameters) throws(PostgreSQLError) -> Bool {
        guard let records = lines.records else { return true }
        let rows = try connection.run(
            """
            SELECT count(*) FROM unnest($1, $2) AS line(owner, key), LATERAL (
                SELECT FROM attempts a WHERE a.owner = line.owner AND a.key = line.key AND a.time > $3 LIMIT 1) AS known
            """, [records[0], records[1], Self.expiry])
        return rows.integer(0, 0) == lines.recordCount
    }

    /// Keys of this time and earlier are expired.
    private static var expiry: Parameter { .integer(SystemTime().wallMilliseconds - IdempotencyKey.lifetime) }

    /// The parameters with the columns of tasks, or of idempotency keys.
    private static let columns = "$1, $2, $3, $4, $5, $6, $7, \(TaskDetail.parameters(from: 8))"

    /// How many of the tasks exist, and how many of them are the same.
    ///
    /// LIMIT makes the planner look up each task by its key, even if it has no statistics yet because the tables were
    /// filled a moment ago.
    private func compare(_ lines: ImportParameters) throws(PostgreSQLError) -> (present: Int, same: Int) {
        let rows = try connection.run(
            """
            SELECT count(*), count(*) FILTER (WHERE same)
            FROM unnest(\(Self.columns)) AS line(owner, \(TaskColumns.all)), LATERAL (
                SELECT (t.text, t.completed, t.created, t.modified, t.revision, \(TaskDetail.list { "t.\($0.name)" }))
                    IS NOT DISTINCT FROM (line.text, line.completed, line.created, line.modified, line.revision,
                        \(TaskDetail.list { "line.\($0.name)" })) AS same
                FROM tasks t WHERE t.owner = line.owner AND t.id = line.id LIMIT 1) AS found
            """, lines.tasks)
        return (Int(rows.integer(0, 0)), Int(rows.integer(0, 1)))
    }

    /// Adds what is missing, and returns how many tasks that were; repeated while servers are in the way.
    private func insert(_ lines: ImportParameters) throws(PostgreSQLError) -> Int {
        try connection.retrying(atMost: 50, pause: { UInt64($0) * 2_000_000 }) { () throws(PostgreSQLError) in
            // The summary counts only what is on a disk.
            try connection.beginGuaranteed()
            let added = try insertInTransaction(lines)
            _ = try connection.run("COMMIT")
            return added
        }
    }

    private func insertInTransaction(_ lines: ImportParameters) throws(PostgreSQLError) -> Int {
        _ = try connection.run(
            "INSERT INTO owners(owner, next_id, tasks) SELECT owner, 1, 0 FROM unnest($1) AS owner ON CONFLICT DO NOTHING",
            [lines.owners])
        _ = try connection.run("SELECT FROM owners WHERE owner = ANY ($1) ORDER BY owner FOR UPDATE", [lines.owners])
        let rows = try connection.run(
            """
            WITH added AS (
                INSERT INTO tasks(owner, \(TaskColumns.all)) SELECT * FROM unnest(\(Self.columns))
                ON CONFLICT DO NOTHING RETURNING owner
            ) SELECT owner, count(*) FROM added GROUP BY owner
            """, lines.tasks)
        var counts: [Owner: Int64] = [:]
        for row in 0..<rows.count { counts[Owner(rows.text(row, 0))] = rows.integer(row, 1) }
        _ = try connection.run(
            """
            UPDATE owners SET next_id = greatest(next_id, line.next), tasks = tasks + line.added
            FROM unnest($1, $2, $3) AS line(name, next, added)
            WHERE owner = line.name AND (next_id < line.next OR line.added > 0)
            """, [lines.owners, lines.nexts, .integers(lines.names.map { counts[$0] ?? 0 })])
        if let records = lines.records { try put(records) }
        return Int(counts.values.reduce(0, +))
    }

    /// The rows of the owners are locked, so that no server uses a key meanwhile.
    private func put(_ records: [Parameter]) throws(PostgreSQLError) {
        _ = try connection.run(
            "DELETE FROM attempts WHERE owner = ANY ($1) AND time <= $2", [records[0], Self.expiry])
        _ = try connection.run(
            """
            INSERT INTO attempts(\(AttemptColumns.all))
            SELECT * FROM unnest(\(Self.columns)) ON CONFLICT DO NOTHING
            """, records)
        _ = try connection.run(
            """
            DELETE FROM attempts USING owners WHERE owners.owner = ANY ($1) AND attempts.owner = owners.owner
                AND attempts.id < owners.next_id - \(IdempotencyKey.remembered)
            """, [records[0]])
    }
}

/// Lines as columns.
private struct ImportParameters {
    let names: [Owner]
    let owners: Parameter
    let nexts: Parameter
    /// The owner, and those of ``TaskColumns``.
    let tasks: [Parameter]
    /// The columns of ``AttemptColumns``; nil if there are none, as in most batches.
    let records: [Parameter]?
    let recordCount: Int

    var ownerCount: Int { names.count }

    init(_ all: [OwnerLines]) {
        names = all.map(\.owner)
        owners = .texts(names.map(\.identifier))
        nexts = .integers(all.map(\.next))
        let items = all.flatMap(\.items)
        tasks =
            [
                .texts(items.map(\.owner.identifier)), .integers(items.map(\.id)), .texts(items.map(\.text.value)),
                .booleans(items.map(\.completed)), .integers(items.map(\.created)), .integers(items.map(\.modified)),
                .integers(items.map(\.revision)),
            ] + items.map(\.details).parameters
        let records = all.flatMap(\.records)
        recordCount = records.count
        self.records = records.isEmpty ? nil : Self.columns(records)
    }

    private static func columns(_ records: [IdempotencyRecord]) -> [Parameter] {
        let items = records.map(\.item)
        return [
            .texts(items.map(\.owner.identifier)), .texts(records.map(\.key.key)),
            .integers(records.map { Int64(bitPattern: $0.key.fingerprint) }), .integers(items.map(\.created)),
            .integers(items.map(\.id)), .texts(items.map(\.text.value)), .booleans(items.map(\.completed)),
        ] + items.map(\.details).parameters
    }
}
