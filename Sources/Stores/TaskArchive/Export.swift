package import Basics
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
        var (range, tasks, keys) = (only.map { OwnerRange.only($0) } ?? .after(Owner("")), 0, 0)
        var isOver = false
        while shouldContinue(tasks) {
            // The transaction ends before the page is written.
            let found = isOver ? StoredOwners([]) : try stored(range, expiry: IdempotencyKey.expiry, ExportPage.choose)
            let page = ExportPage(found)
            if let contradiction = page.contradiction { throw .databaseFailed(contradiction) }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try page.write(output) }
            guard let last = page.owners.last else {
                let end = ArchiveLine.end(tasks: tasks, keys: keys)
                try rethrowing(as: OperatorError.init) { () throws(SystemError) in try output(end.json) }
                return ExportSummary(tasks: tasks, isWhole: true)
            }
            (range, isOver) = (.after(last.owner), only != nil)
            tasks += found.tasks.count
            keys += found.records.count
        }
        return ExportSummary(tasks: tasks, isWhole: false)
    }
}

extension IdempotencyKey {
    /// Keys of this time and earlier are expired, in milliseconds since 1970.
    package static var expiry: Int64 { SystemTime().wallMilliseconds - lifetime }
}

/// Some owners with all their tasks, as they were at one moment.
struct ExportPage {
    /// The most tasks and idempotency keys that the owners of a page have together.
    ///
    /// An owner is never divided between pages, so a whole page is in memory.
    private static let mostRows: Int64 = 3000

    private let stored: StoredOwners
    var owners: [CountedOwner] { stored.owners }

    init(_ stored: StoredOwners) { self.stored = stored }

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

    /// Says how the tables are damaged, if the page contradicts itself.
    ///
    /// Otherwise an export would lack the rows that a page of the database has lost, and nobody would notice.
    var contradiction: String? {
        guard hasOwners(of: stored.tasks.lazy.map(\.owner)),
            hasOwners(of: stored.records.lazy.map(\.item.owner))
        else {
            return
                "the table owners lacks people whose tasks or idempotency keys are there; restore it, or add them "
                + "(next_id: one more than their greatest id, tasks: how many they have), then try again"
        }
        let expected = owners.reduce(0) { $0 + $1.counts.tasks }
        guard expected == stored.tasks.count else {
            return
                "the rows of owners count \(expected) tasks of some people, and \(stored.tasks.count) are there: "
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
        var (tasks, records) = (stored.tasks[...], stored.records[...])
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
