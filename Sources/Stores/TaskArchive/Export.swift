package import Basics
import JSON
package import Platform
package import Tasks

package struct ExportSummary: Sendable, Equatable {
    package let tasks: Int
    /// Whether these are all tasks and keys, and the last line is written.
    package let isWhole: Bool
}

extension OwnerTables {
    /// Gives every task to `output` as one line of JSON, without the line's end, ordered by owner and id.
    ///
    /// All lines of one owner are adjacent and show one moment. Different owners may show different moments, since no
    /// transaction is kept open for a slow reader. Where the newest tasks of an owner are gone, a line with the `next`
    /// id follows, so that no id is ever given again. The idempotency keys that are remembered now are lines after the
    /// tasks of their owner. The last line says that the export is whole.
    ///
    /// With an owner, who must be in the database, only the lines of that owner are given.
    ///
    /// `shouldContinue` is called after every few owners with the number of exported tasks; false ends the export
    /// without its last line.
    package func export(
        of only: Owner? = nil, to output: LineOutput, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> ExportSummary {
        if let only, try contents(of: only) == nil { throw .unknownOwner(only) }
        var range: OwnerRange? = only.map { .only($0) } ?? .after(Owner(""))
        var (tasks, keys) = (0, 0)
        while shouldContinue(tasks) {
            // The transaction ends before the page is written.
            let found = try translating { () throws(Failure) in
                try snapshot { () throws(Failure) in try range.map(page) }
            }
            guard let page = found, let last = page.owners.last?.owner else {
                try write(.end(tasks: tasks, keys: keys), to: output)
                return ExportSummary(tasks: tasks, isWhole: true)
            }
            for line in page.lines { try write(line, to: output) }
            range = only == nil ? .after(last) : nil
            tasks += page.tasks.count
            keys += page.records.count
        }
        return ExportSummary(tasks: tasks, isWhole: false)
    }

    private func write(_ line: ArchiveLine, to output: LineOutput) throws(OperatorError) {
        try rethrowing(as: OperatorError.init) { () throws(SystemError) in try output(line.json) }
    }

    package func countTasks() throws(OperatorError) -> Int64 {
        try translating { () throws(Failure) in
            try rows([.integer("CAST(sum(tasks) AS bigint)")], "FROM owners", []) { $0(0).integer ?? 0 }.first ?? 0
        }
    }

    /// The numbers of an owner's tasks and idempotency keys; nil if the database does not know the owner.
    package func contents(of owner: Owner) throws(OperatorError) -> (tasks: Int64, keys: Int64)? {
        let keys = TableColumn.integer("(SELECT count(*) FROM attempts WHERE owner = $1)")
        return try translating { () throws(Failure) in
            try rows([.integer("tasks"), keys], "FROM owners WHERE owner = $1", [.string(owner.identifier)]) {
                ($0(0).integer ?? 0, $0(1).integer ?? 0)
            }.first
        }
    }

    /// The first owners of a range in the order of the bytes of their names, at most 500.
    package func owners(in range: OwnerRange) throws(Failure) -> [CountedOwner] {
        let columns = [TableColumn.text("owner"), .integer("next_id"), .integer("tasks")]
        let source = "FROM owners WHERE \(range.condition) ORDER BY owner LIMIT 500"
        return try rows(columns, source, [.string(range.start.identifier)]) { value throws(ForeignValue) in
            let counts = try OwnerCounts(storedNext: value(1).integer ?? 0, tasks: value(2).integer ?? 0)
            return (try Owner(stored: value(0).string ?? ""), counts)
        }
    }

    /// The tasks and keys of the first owners of a range, as many as fill a page.
    func page(_ range: OwnerRange) throws(Failure) -> ExportPage {
        let owners = ExportPage.choose(try owners(in: range))
        let start = [JSONValue.string(range.start.identifier)]
        guard let last = owners.last?.owner else {
            let lost = range.isOne ? [] : try tasks("\(range.condition) LIMIT 1", start)
            return try page(owners, lost, [])
        }
        let (source, values) = ("\(range.condition) AND owner <= $2", start + [.string(last.identifier)])
        let tasks = try tasks("\(source) ORDER BY owner, id", values)
        // The plus keeps SQLite from using the index by time, whose rows would have to be sorted by owner.
        let records = try rows(
            IdempotencyRecord.columns, "FROM attempts WHERE \(source) AND +time > $3 ORDER BY owner, key",
            values + [.integer(IdempotencyKey.expiry)]
        ) { value throws(ForeignValue) in
            try IdempotencyRecord(of: Owner(stored: value(0).string ?? "")) { value($0 + 1) }
        }
        return try page(owners, tasks, records)
    }

    private func tasks(_ condition: String, _ values: [JSONValue]) throws(Failure) -> [TaskItem] {
        try rows(TaskItem.columns, "FROM tasks WHERE \(condition)", values) { value throws(ForeignValue) in
            try TaskItem(of: Owner(stored: value(0).string ?? "")) { value($0 + 1) }
        }
    }

    private func page(
        _ owners: [CountedOwner], _ tasks: [TaskItem], _ records: [IdempotencyRecord]
    ) throws(Failure) -> ExportPage {
        try rethrowing(as: Failure.init) { () throws(ForeignValue) in try ExportPage(owners, tasks, records) }
    }
}

extension ForeignValue {
    package static let lostOwners = ForeignValue(
        message:
            "the table owners lacks people whose tasks or idempotency keys are there; restore it, or add them "
            + "(next_id: one more than their greatest id, tasks: how many they have), then try again")
}

extension IdempotencyKey {
    /// Keys of this time and earlier are expired, in milliseconds since 1970.
    package static var expiry: Int64 { SystemTime().wallMilliseconds - lifetime }
}

/// Owners in the order of the bytes of their names.
package enum OwnerRange: Sendable {
    case after(Owner)
    case only(Owner)

    /// The owner that is before the range, or its only one.
    fileprivate var start: Owner {
        switch self {
        case .after(let owner), .only(let owner): owner
        }
    }

    fileprivate var isOne: Bool { if case .only = self { true } else { false } }

    /// The condition for the owners of the range, of which `$1` is the start.
    fileprivate var condition: String { "owner \(isOne ? "=" : ">") $1" }
}

package typealias CountedOwner = (owner: Owner, counts: OwnerCounts)

/// Some owners with all their tasks and the idempotency keys that are remembered, as they were at one moment.
struct ExportPage {
    /// The most tasks and idempotency keys that the owners of a page have together.
    ///
    /// An owner is never divided between pages, so a whole page is in memory.
    private static let mostRows: Int64 = 3000

    let owners: [CountedOwner]
    /// Ordered by owner and id.
    let tasks: [TaskItem]
    /// Ordered by owner and key.
    let records: [IdempotencyRecord]

    /// A page that does not contradict itself.
    ///
    /// Otherwise an export would lack the rows that a page of the database has lost, and nobody would notice.
    init(_ owners: [CountedOwner], _ tasks: [TaskItem], _ records: [IdempotencyRecord]) throws(ForeignValue) {
        (self.owners, self.tasks, self.records) = (owners, tasks, records)
        let known = Set(owners.map(\.owner))
        guard tasks.allSatisfy({ known.contains($0.owner) }), records.allSatisfy({ known.contains($0.item.owner) })
        else { throw .lostOwners }
        let expected = owners.reduce(0) { $0 + $1.counts.tasks }
        guard expected == tasks.count else {
            throw ForeignValue(
                message:
                    "the rows of owners count \(expected) tasks of some people, and \(tasks.count) are there: it is damaged; "
                    + "restore a backup")
        }
    }

    /// Takes the first of these owners, who follow each other in the table, until they fill a page.
    static func choose(_ candidates: [CountedOwner]) -> [CountedOwner] {
        var sum: Int64 = 0
        var owners: [CountedOwner] = []
        for owner in candidates {
            sum += owner.counts.tasks + min(owner.counts.next - 1, IdempotencyKey.remembered)
            guard owners.isEmpty || sum <= mostRows else { break }
            owners.append(owner)
        }
        return owners
    }

    /// The lines of each owner: the tasks, the idempotency keys, and the next id where no task shows it.
    var lines: [ArchiveLine] {
        var lines: [ArchiveLine] = []
        var (tasks, records) = (tasks[...], records[...])
        for (owner, counts) in owners {
            var next: Int64 = 1
            while let item = tasks.first, item.owner == owner {
                lines.append(.task(item))
                next = item.id + 1
                tasks.removeFirst()
            }
            while let record = records.first, record.item.owner == owner {
                lines.append(.key(record))
                records.removeFirst()
            }
            if counts.next > next { lines.append(.owner(owner, next: counts.next)) }
        }
        return lines
    }
}
