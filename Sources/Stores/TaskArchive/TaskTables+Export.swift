package import Basics
package import JSON
package import Platform
package import Tasks

package struct ExportSummary: Sendable, Equatable {
    package let tasks: Int
    /// Whether those are all, and the last line is written.
    package let isWhole: Bool
}

extension TaskTables {
    /// Gives every task to `output` as one line of JSON, without the line's end, ordered by owner and id.
    ///
    /// All lines of one owner are adjacent and show one moment. Those of different owners may show different moments,
    /// since no transaction is kept open for a slow reader. Where the newest tasks of an owner are gone, a line with
    /// the `next` id follows, so that no id is ever given again. The idempotency keys that are remembered now are lines
    /// after the tasks of their owner. The last line says that the export is whole.
    ///
    /// With an owner, the lines are only of that one, who must be in the database.
    ///
    /// `shouldContinue` is called after every few owners with the number of exported tasks; false ends the export
    /// without its last line.
    package func export(
        of only: Owner? = nil, to output: LineOutput, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> ExportSummary {
        if let only, try contents(of: only) == nil { throw .unknownOwner(only) }
        var (owner, tasks, keys) = ("", 0, 0)
        while shouldContinue(tasks) {
            // The transaction ends before the page is written.
            let page = try rethrowing(as: \.forOperator) { () throws(Failure) in
                try snapshot { () throws(Failure) in try nextPage(after: owner, only: only) }
            }
            if let contradiction = page.contradiction { throw .databaseFailed(contradiction) }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try page.write(output) }
            guard let last = page.owners.last else {
                let end = ArchiveLine.end(tasks: tasks, keys: keys)
                try rethrowing(as: OperatorError.init) { () throws(SystemError) in try output(end.json) }
                return ExportSummary(tasks: tasks, isWhole: true)
            }
            owner = last.owner.identifier
            tasks += page.tasks.count
            keys += page.records.count
        }
        return ExportSummary(tasks: tasks, isWhole: false)
    }

    package func countTasks() throws(OperatorError) -> Int {
        let rows = try rethrowing(as: \.forOperator) { () throws(Failure) in
            try run("SELECT CAST(sum(tasks) AS bigint) FROM owners", [], giving: [.integer("tasks")])
        }
        return Int(rows.first?[0].integer ?? 0)
    }

    /// The next owners in byte order; none at the end, and then with a task only if that has no owner's row.
    private func nextPage(after owner: String, only: Owner?) throws(Failure) -> ExportPage {
        let after = [JSONValue.string(owner)]
        let isOne = only.map { _ in "AND owner = ?2" } ?? ""
        let candidates = try read(
            "owners WHERE owner > ?1 \(isOne) ORDER BY owner LIMIT \(ExportPage.most.owners)",
            after + (only.map { [.string($0.identifier)] } ?? []), OwnerCounts.columns
        ) { (row: [JSONValue]) throws(ForeignValue) in
            (owner: try Owner(stored: row[0].string ?? ""), counts: try OwnerCounts(row))
        }
        var page = ExportPage(candidates)
        guard let first = page.owners.first?.owner.identifier, let last = page.owners.last?.owner.identifier else {
            guard only == nil else { return page }
            page.tasks = try read("tasks WHERE owner > ?1 LIMIT 1", after, TaskItem.columns, TaskItem.init)
            return page
        }
        // A task without an owner's row, between two owners, must not be passed over.
        let lower = only == nil ? "> ?1" : ">= ?1"
        let range = (only == nil ? after : [.string(first)]) + [.string(last)]
        page.tasks = try read(
            "tasks WHERE owner \(lower) AND owner <= ?2 ORDER BY owner, id", range, TaskItem.columns, TaskItem.init)
        // The plus keeps SQLite from using the index by time, whose rows would have to be sorted by owner.
        page.records = try read(
            """
            attempts WHERE owner \(lower) AND owner <= ?2 AND +time > \(IdempotencyKey.expiry) ORDER BY owner, key
            """, range, IdempotencyRecord.columns, IdempotencyRecord.init)
        return page
    }

    private func read<Value>(
        _ from: String, _ values: [JSONValue], _ columns: [TableColumn],
        _ value: ([JSONValue]) throws(ForeignValue) -> Value
    ) throws(Failure) -> [Value] {
        let rows = try run("SELECT \(columns.names) FROM \(from)", values, giving: columns)
        return try rethrowing(as: { Failure.corrupt($0.message) }) { () throws(ForeignValue) in try rows.map(value) }
    }
}

extension OwnerCounts {
    package static let columns = [TableColumn.text("owner"), .integer("next_id"), .integer("tasks")]

    package init(_ row: [JSONValue]) throws(ForeignValue) {
        try self.init(storedNext: row[1].integer ?? 0, tasks: row[2].integer ?? 0)
    }
}

extension IdempotencyKey {
    /// Keys of this time and earlier are expired, in milliseconds since 1970.
    package static var expiry: Int64 { SystemTime().wallMilliseconds - lifetime }
}

/// Some owners with all their tasks, as they were at one moment.
struct ExportPage {
    /// How many owners are read for a page, and how many tasks and idempotency keys they may have together.
    ///
    /// An owner is never divided between pages, so a whole page is in memory.
    static let most = (owners: 500, rows: Int64(3000))

    typealias CountedOwner = (owner: Owner, counts: OwnerCounts)

    /// Ordered by the bytes of their names.
    private(set) var owners: [CountedOwner] = []
    /// Ordered by owner and id.
    var tasks: [TaskItem] = []
    /// The idempotency keys that are remembered now, ordered by owner and key.
    var records: [IdempotencyRecord] = []

    /// Takes as many of these owners, who follow each other in the table, as make a page.
    init(_ candidates: [CountedOwner]) {
        var sum: Int64 = 0
        for owner in candidates {
            sum += owner.counts.tasks + min(owner.counts.next - 1, IdempotencyKey.remembered)
            guard owners.isEmpty || sum <= Self.most.rows else { return }
            owners.append(owner)
        }
    }

    /// Says how the tables are damaged, if the page contradicts itself.
    ///
    /// Otherwise an export would lack the rows that a page of the database has lost, and nobody would notice.
    var contradiction: String? {
        guard hasOwners(of: tasks.lazy.map(\.owner)), hasOwners(of: records.lazy.map(\.item.owner)) else {
            return
                "the table owners lacks people whose tasks or idempotency keys are there; restore it, or add them "
                + "(next_id: one more than their greatest id, tasks: how many they have), then try again"
        }
        let expected = owners.reduce(0) { $0 + $1.counts.tasks }
        guard expected == tasks.count else {
            return
                "the rows of owners count \(expected) tasks of some people, and \(tasks.count) are there: "
                + "it is damaged; restore a backup"
        }
        return nil
    }

    /// Whether each of these owners has a row; they are in the order of the rows.
    private func hasOwners(of names: some Sequence<Owner>) -> Bool {
        var rest = owners[...]
        for owner in names {
            rest = rest.drop { $0.owner != owner }
            if rest.isEmpty { return false }
        }
        return true
    }

    /// Writes the lines of each owner: the tasks, the idempotency keys, and the next id where no task shows it.
    func write(_ output: LineOutput) throws(SystemError) {
        var (tasks, records) = (tasks[...], records[...])
        for row in owners {
            let owner = row.owner
            var next: Int64 = 1
            while let item = tasks.first, item.owner == owner {
                try output(ArchiveLine.task(item).json)
                next = item.id + 1
                tasks.removeFirst()
            }
            while let record = records.first, record.item.owner == owner {
                try output(ArchiveLine.key(record).json)
                records.removeFirst()
            }
            if row.counts.next > next { try output(ArchiveLine.owner(owner, next: row.counts.next).json) }
        }
    }
}
