package import Basics
import JSON
package import Platform
import SQLiteStore
import Tasks

package struct ImportSummary: Sendable, Equatable {
    /// How the lines ended.
    package enum End: Sendable, Equatable {
        /// With the last line of an export, which counted all that came before it.
        case whole
        /// Without it: the export was not finished, or lines were lost.
        case cut
        /// The import was stopped before the end of the lines.
        case stopped
    }

    /// Tasks that did not exist.
    package var added = 0
    /// Tasks whose owner and id existed: they stayed as they were.
    package var present = 0
    /// The present tasks that differ from the line, because they were changed since, or are other tasks.
    package var differing = 0
    package var end = End.stopped

    package var tasks: Int { added + present }
}

extension TaskTables {
    /// Adds the lines of an export, ids and times kept; skips empty lines, existing tasks and expired keys.
    ///
    /// An import that ended early, for whatever reason, is continued by repeating it. It adds in small transactions.
    /// `nextLine` returns nil at the end. `shouldContinue` is called after every transaction with what was done until
    /// then; false ends the import. If a line has a mistake, the lines before it are imported.
    package func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        var summary = ImportSummary()
        var reader = ImportBatchReader()
        while shouldContinue(summary) {
            let batch = try reader.next(nextLine)
            let owners = ImportedOwner.grouped(batch.lines, at: SystemTime().wallMilliseconds)
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
    private func add(_ owners: [ImportedOwner], _ summary: inout ImportSummary) throws(Failure) {
        let items = owners.flatMap(\.items)
        let added = try transaction { () throws(Failure) in
            try insert(items, owners.flatMap(\.records), of: owners)
        }
        summary.added += added
        summary.present += items.count - added
        if added < items.count { summary.differing += try countDiffering(items) }
    }

    /// How many of the tasks the database has with other values.
    ///
    /// A subquery makes PostgreSQL use the key, even if tables that were just filled have no statistics yet.
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
        _ items: [TaskItem], _ records: [IdempotencyRecord], of owners: [ImportedOwner]
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
            UPDATE owners SET next_id = CASE WHEN next_id < next THEN next ELSE next_id END, tasks = tasks + added,
                change = change + 1, origin = \(Self.newOrigin)
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

/// Reads the lines of an import in batches, each for one transaction.
struct ImportBatchReader {
    struct Batch {
        var lines: [ArchiveLine] = []
        /// The mistake in the line after them, if there is one.
        var fault: OperatorError?
        var isLast = false
    }

    /// How many lines a batch has at most, and about how many bytes.
    private static let most = (lines: 1000, bytes: 1 << 22)

    private var number = 0
    private var (tasksSinceEnd, keysSinceEnd) = (0, 0)
    /// Whether the last line was one that ends an export.
    private(set) var isWhole = false

    /// Reads the next lines; an empty one is skipped.
    mutating func next(_ nextLine: LineInput) throws(OperatorError) -> Batch {
        var batch = Batch()
        var size = 0
        while batch.lines.count < Self.most.lines, size < Self.most.bytes {
            let bytes = try rethrowing(as: OperatorError.init) { () throws(SystemError) in try nextLine() }
            guard let bytes else {
                batch.isLast = true
                return batch
            }
            number += 1
            size += bytes.count
            guard !bytes.isEmpty else { continue }
            do throws(OperatorError) {
                let line = try ArchiveLine(parsing: bytes)
                try count(line)
                batch.lines.append(line)
            } catch {
                batch.fault = OperatorError(
                    "line \(number): \(error.failure)",
                    advice: "the lines before it are imported, and may be repeated")
                return batch
            }
        }
        return batch
    }

    /// Several exports may follow each other; each ends with its own count.
    private mutating func count(_ line: ArchiveLine) throws(OperatorError) {
        isWhole = false
        switch line {
        case .task: tasksSinceEnd += 1
        case .key: keysSinceEnd += 1
        case .owner: break
        case .end(let tasks, let keys):
            try expect(tasks, "tasks", tasksSinceEnd)
            try expect(keys, "idempotency keys", keysSinceEnd)
            (tasksSinceEnd, keysSinceEnd, isWhole) = (0, 0, true)
        }
    }

    private func expect(_ count: Int, _ name: String, _ found: Int) throws(OperatorError) {
        guard count == found else {
            throw OperatorError(
                "the export had \(count) \(name), here are \(found): lines are missing or doubled")
        }
    }
}

/// What some lines of an import say about one owner.
struct ImportedOwner {
    let owner: Owner
    private(set) var items: [TaskItem] = []
    /// The idempotency keys that are still remembered.
    private(set) var records: [IdempotencyRecord] = []
    /// The least id that may be given next.
    private(set) var next: Int64 = 1

    private init(owner: Owner) {
        self.owner = owner
    }

    /// The lines by owner, in the order in which servers lock owners; `time` in milliseconds since 1970, UTC.
    static func grouped(_ lines: [ArchiveLine], at time: Int64) -> [ImportedOwner] {
        var all: [Owner: ImportedOwner] = [:]
        for line in lines {
            if let owner = line.owner { all[owner, default: ImportedOwner(owner: owner)].add(line, at: time) }
        }
        return all.values.sorted { $0.owner < $1.owner }
    }

    private mutating func add(_ line: ArchiveLine, at time: Int64) {
        switch line {
        case .task(let item):
            items.append(item)
            next = max(next, item.id + 1)
        case .key(let record):
            if record.isLive(at: time) { records.append(record) }
            next = max(next, record.item.id + 1)
        case .owner(_, let next): self.next = max(self.next, next)
        case .end: break
        }
    }
}
