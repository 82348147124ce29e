import Platform
import Tasks

/// Some owners with all their tasks, as they were at one moment.
struct ExportPage {
    /// How many owners are read for a page, and how many tasks and idempotency keys they may have together.
    ///
    /// An owner is never divided between pages, so a whole page is in memory.
    static let most = (owners: 500, rows: Int64(3000))

    struct OwnerRow {
        let owner: Owner
        let counts: OwnerCounts
    }

    /// Ordered by the bytes of their names.
    private(set) var owners: [OwnerRow] = []
    /// Ordered by owner and id.
    var tasks: [TaskItem] = []
    /// The idempotency keys that are remembered now, ordered by owner and key.
    var records: [IdempotencyRecord] = []

    /// Takes as many of these owners, who follow each other in the table, as make a page.
    init(_ candidates: [OwnerRow]) {
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
