import PostgreSQLStore
import Platform
import PostgreSQL
import Tasks

/// The session that takes an import in, many people with each statement.
struct PostgreSQLImport {
    let connection: PipelineConnection
    /// Some partitions lie on other servers.
    let isForeign: Bool

    /// Takes lines in, in one transaction; none if all of them are in already.
    func add(_ people: [OwnersLines], _ summary: inout ImportSummary) throws(PostgreSQLError) {
        let lines = ImportParameters(people)
        let count = people.reduce(0) { $0 + $1.items.count }
        if try knows(lines), try remembers(lines) {
            let (there, same) = try compare(lines)
            if there == count {
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

    /// Whether all owners are there, and will give no id of these lines again.
    private func knows(_ lines: ImportParameters) throws(PostgreSQLError) -> Bool {
        let rows = try connection.run(
            """
            SELECT count(*) FROM unnest($1, $2) AS line(owner, next), LATERAL (
                SELECT FROM owners o WHERE o.owner = line.owner AND o.next_id >= line.next LIMIT 1) AS known
            """, [lines.owners, lines.nexts])
        return rows.integer(0, 0) == lines.ownerCount
    }

    /// Whether all idempotency keys are there; a key that was used long ago is none.
    private func remembers(_ lines: ImportParameters) throws(PostgreSQLError) -> Bool {
        guard let attempts = lines.attempts else { return true }
        let rows = try connection.run(
            """
            SELECT count(*) FROM unnest($1, $2) AS line(owner, key), LATERAL (
                SELECT FROM attempts a WHERE a.owner = line.owner AND a.key = line.key AND a.time > $3 LIMIT 1) AS known
            """, [attempts[0], attempts[1], Self.oldest])
        return rows.integer(0, 0) == lines.attemptCount
    }

    /// What is as old as that is forgotten.
    private static var oldest: Parameter { .integer(SystemTime().wallMilliseconds - IdempotencyKey.lifetime) }

    /// How many of the tasks are there, and how many of them are the same.
    ///
    /// LIMIT keeps the planner from joining in another way than by looking each one up, even where it has no
    /// statistics of tables that were filled a moment ago.
    private func compare(_ lines: ImportParameters) throws(PostgreSQLError) -> (there: Int, same: Int) {
        let rows = try connection.run(
            """
            SELECT count(*), count(*) FILTER (WHERE same)
            FROM unnest($1, $2, $3, $4, $5, $6, $7) AS line(owner, \(TaskColumns.all)), LATERAL (
                SELECT (t.text, t.completed, t.created, t.modified, t.revision)
                    = (line.text, line.completed, line.created, line.modified, line.revision) AS same
                FROM tasks t WHERE t.owner = line.owner AND t.id = line.id LIMIT 1) AS found
            """, lines.tasks)
        return (Int(rows.integer(0, 0)), Int(rows.integer(0, 1)))
    }

    /// Adds what is missing, and answers how many tasks that were; tried again where a server came in between.
    private func insert(_ lines: ImportParameters) throws(PostgreSQLError) -> Int {
        var failures = 0
        while true {
            do throws(PostgreSQLError) {
                _ = try connection.run(TransactionStatement.begin.sql)
                // What is said to be done is on a disk.
                _ = try connection.run(TransactionStatement.guarantee.sql, [.text("60000")])
                let added = try insertInTransaction(lines)
                _ = try connection.run("COMMIT")
                return added
            } catch {
                _ = try? connection.run("ROLLBACK")
                failures += 1
                guard error.kind == .retryable, failures < 10 else { throw error }
            }
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
                INSERT INTO tasks(owner, \(TaskColumns.all)) SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)
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
        if let attempts = lines.attempts { try remember(attempts) }
        return Int(counts.values.reduce(0, +))
    }

    /// The owners are locked, so that nobody uses a key meanwhile.
    private func remember(_ attempts: [Parameter]) throws(PostgreSQLError) {
        _ = try connection.run(
            "DELETE FROM attempts WHERE owner = ANY ($1) AND time <= $2", [attempts[0], Self.oldest])
        _ = try connection.run(
            """
            INSERT INTO attempts(owner, key, fingerprint, time, id, text, completed)
            SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
            """, attempts)
        _ = try connection.run(
            """
            DELETE FROM attempts USING owners WHERE owners.owner = ANY ($1) AND attempts.owner = owners.owner
                AND attempts.id < owners.next_id - \(IdempotencyKey.remembered)
            """, [attempts[0]])
    }
}

/// Lines as columns.
private struct ImportParameters {
    let names: [Owner]
    let owners: Parameter
    let nexts: Parameter
    /// Seven columns: the owner, and those of ``TaskColumns``.
    let tasks: [Parameter]
    /// Seven columns, in the order of the table; nil if there are none, as in most stretches.
    let attempts: [Parameter]?
    let attemptCount: Int

    var ownerCount: Int { names.count }

    init(_ people: [OwnersLines]) {
        names = people.map(\.owner)
        owners = .texts(names.map(\.identifier))
        nexts = .integers(people.map(\.next))
        let items = people.flatMap(\.items)
        tasks = [
            .texts(items.map(\.owner.identifier)), .integers(items.map(\.id)), .texts(items.map(\.text.value)),
            .booleans(items.map(\.completed)), .integers(items.map(\.created)), .integers(items.map(\.modified)),
            .integers(items.map(\.revision)),
        ]
        let attempts = people.flatMap(\.attempts)
        attemptCount = attempts.count
        self.attempts = attempts.isEmpty ? nil : Self.columns(attempts)
    }

    private static func columns(_ attempts: [Attempt]) -> [Parameter] {
        let items = attempts.map(\.item)
        return [
            .texts(items.map(\.owner.identifier)), .texts(attempts.map(\.key.key)),
            .integers(attempts.map { Int64(bitPattern: $0.key.fingerprint) }), .integers(items.map(\.created)),
            .integers(items.map(\.id)), .texts(items.map(\.text.value)), .booleans(items.map(\.completed)),
        ]
    }
}
