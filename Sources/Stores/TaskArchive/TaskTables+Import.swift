package import Basics
import JSON
package import Platform
import Tasks

extension TaskTables {
    /// Adds the lines of an export, ids and times kept; skips empty lines, existing tasks and expired keys.
    ///
    /// An import that ended early, for whatever reason, is continued by repeating it. It adds in small transactions.
    /// `nextLine` returns nil at the end. `shouldContinue` is called after every transaction with what was done until then;
    /// false ends the import. If a line has a mistake, the lines before it are imported.
    package func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        var summary = ImportSummary()
        var reader = ImportBatchReader()
        while shouldContinue(summary) {
            let batch = try reader.next(nextLine)
            let owners = OwnerLines.grouped(batch.lines, at: SystemTime().wallMilliseconds)
            // One transaction, or one for each owner.
            for group in isOneOwnerOnly ? owners.map({ [$0] }) : owners.isEmpty ? [] : [owners] {
                try rethrowing(as: \.forOperator) { () throws(Failure) in try add(group, &summary) }
            }
            if let fault = batch.fault { throw fault }
            guard !batch.isLast else {
                summary.end = reader.isWhole ? .whole : .cut
                return summary
            }
        }
        return summary
    }

    /// Imports the lines of some owners, who are different and ordered by the bytes of their names; counts their tasks.
    private func add(_ owners: [OwnerLines], _ summary: inout ImportSummary) throws(Failure) {
        let items = owners.flatMap(\.items)
        let added = try transaction { () throws(Failure) in
            (try insert(items, owners.flatMap(\.records), of: owners), isKept: true)
        }
        summary.added += added
        summary.present += items.count - added
        if added < items.count { summary.differing += try countDiffering(items) }
    }

    /// How many of the tasks the database has with other values.
    ///
    /// A subquery makes PostgreSQL use the key, even if it has no statistics yet because the tables were filled a moment ago.
    private func countDiffering(_ items: [TaskItem]) throws(Failure) -> Int {
        let isSame = TaskItem.columns.dropFirst(2).map { "t.\($0.name) IS NOT DISTINCT FROM line.\($0.name)" }
        let found = try run(
            """
            SELECT (SELECT \(isSame.joined(separator: " AND ")) FROM tasks t WHERE t.owner = line.owner AND t.id = line.id)
            FROM \(Self.source(TaskItem.columns))
            """, lines: items.map(\.row), of: TaskItem.columns, giving: [.flag("found")])
        return found.count { $0[0] != true }
    }

    /// Adds what is missing, in a transaction; returns how many tasks that were.
    private func insert(
        _ items: [TaskItem], _ records: [IdempotencyRecord], of owners: [OwnerLines]
    ) throws(Failure) -> Int {
        try insert(owners.map { [.string($0.owner.identifier), 1, 0] }, OwnerCounts.columns, into: "owners")
        // In the order in which servers lock them.
        try run(
            "SELECT owner FROM owners WHERE owner \(Self.isLine) ORDER BY owner \(Self.forUpdate)",
            of: owners.map(\.owner))
        var counts: [Owner: Int64] = [:]
        let added = try insert(items.map(\.row), TaskItem.columns, into: "tasks")
        for owner in added { counts[owner, default: 0] += 1 }
        let columns = [TableColumn.text("name"), .integer("next"), .integer("added")]
        _ = try run(
            """
            UPDATE owners SET next_id = CASE WHEN next_id < next THEN next ELSE next_id END, tasks = tasks + added
            FROM \(Self.source(columns)) WHERE owner = name AND (next_id < next OR added > 0)
            """,
            lines: owners.map { [.string($0.owner.identifier), .integer($0.next), .integer(counts[$0.owner] ?? 0)] },
            of: columns, giving: [])
        if !records.isEmpty { try put(records) }
        return added.count
    }

    /// Adds the lines whose keys are not in a table, and returns their owners.
    @discardableResult
    private func insert(
        _ lines: [[JSONValue]], _ columns: [TableColumn], into table: String
    ) throws(Failure) -> [Owner] {
        try run(
            """
            INSERT INTO \(table)(\(columns.names)) SELECT \(columns.names) FROM \(Self.source(columns))
            WHERE true ON CONFLICT DO NOTHING RETURNING owner
            """, lines: lines, of: columns, giving: [.text("owner")]
        ).map { Owner($0[0].string ?? "") }
    }

    /// Adds idempotency keys; the rows of the owners are locked, so that no server uses a key meanwhile.
    private func put(_ records: [IdempotencyRecord]) throws(Failure) {
        let owners = Array(Set(records.map(\.item.owner)))
        try run("DELETE FROM attempts WHERE owner \(Self.isLine) AND time <= \(IdempotencyKey.expiry)", of: owners)
        try insert(records.map(\.row), IdempotencyRecord.columns, into: "attempts")
        try run(
            """
            DELETE FROM attempts WHERE owner \(Self.isLine) AND id <
                (SELECT next_id FROM owners WHERE owners.owner = attempts.owner) - \(IdempotencyKey.remembered)
            """, of: owners)
    }

    private func run(_ sql: String, of owners: [Owner]) throws(Failure) {
        _ = try run(sql, lines: owners.map { [.string($0.identifier)] }, of: [.text("owner")], giving: [])
    }
}
