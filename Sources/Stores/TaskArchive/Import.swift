package import Basics
package import Platform
package import Tasks

package struct ImportSummary: Sendable, Equatable {
    /// The end of the lines.
    package enum End: Sendable, Equatable {
        /// The last line was that of an export, which counts all lines before it.
        case whole
        /// The last line of an export is missing: the export was not finished, or lines were lost.
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

    mutating func add(_ other: ImportSummary) {
        (added, present, differing) = (added + other.added, present + other.present, differing + other.differing)
    }
}

extension OwnerTables {
    /// Adds the lines of an export, ids and times kept; skips empty lines, existing tasks and expired keys.
    ///
    /// An import that ended early, for whatever reason, is continued by repeating it. Transactions are small.
    /// `nextLine` returns nil at the end. `shouldContinue` is called after every transaction with the summary until
    /// then; false ends the import. If a line has a mistake, the lines before it are imported.
    package func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        var summary = ImportSummary()
        var reader = ImportBatchReader()
        while shouldContinue(summary) {
            let batch = try reader.next(nextLine)
            try add(batch.lines).forEach { summary.add($0) }
            if let fault = batch.fault { throw fault }
            guard !batch.isLast else {
                summary.end = reader.isWhole ? .whole : .cut
                return summary
            }
        }
        return summary
    }

    /// Adds lines in one transaction, or each owner's in its own where owners are on different servers.
    private func add(_ lines: [ArchiveLine]) throws(OperatorError) -> [ImportSummary] {
        let owners = ImportOwner.grouped(lines, at: SystemTime().wallMilliseconds)
        var summaries: [ImportSummary] = []
        for commands in isDistributed ? owners.map({ [$0] }) : [owners] {
            summaries += try translating { () throws(Failure) in
                try transaction(locking: []) { () throws(Failure) in try run(commands) }
            }
        }
        return summaries
    }

    /// Imports under another name, with ids raised by an offset, what an export has of an owner; returns the old ids.
    ///
    /// The transaction has locked both owners.
    package func copy(_ old: Owner, to new: Owner, raisingIDsBy offset: Int64) throws(Failure) -> [Int64] {
        let page = try page(.only(old))
        var command = ImportOwner(owner: new, at: SystemTime().wallMilliseconds)
        command.items = page.tasks.map { $0.copied(to: new, raisingIDBy: offset) }
        command.records = page.records.map {
            IdempotencyRecord(key: $0.key, item: $0.item.copied(to: new, raisingIDBy: offset))
        }
        command.next = (page.owners.first?.counts.next ?? 1) + offset
        let summaries = try run([command])
        guard summaries.allSatisfy({ $0.present == 0 }) else {
            throw Failure(ForeignValue(message: "an owner has tasks with ids that the row in owners has not given"))
        }
        return page.tasks.map(\.id)
    }
}

extension TaskItem {
    fileprivate func copied(to owner: Owner, raisingIDBy offset: Int64) -> TaskItem {
        TaskItem(
            id: id + offset, owner: owner, text: text, completed: completed, created: created, modified: modified,
            revision: revision, details: details)
    }
}

/// Reads the lines of an import in batches, each for one transaction.
struct ImportBatchReader {
    struct Batch {
        var lines: [ArchiveLine] = []
        /// The mistake in the line after these lines, if there is one.
        var fault: OperatorError?
        var isLast = false
    }

    /// The most lines of a batch, and about the most bytes.
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

/// Adds the tasks, keys and next id that lines of an import name for one owner, where the database lacks them.
struct ImportOwner: TaskCommand {
    typealias Outcome = ImportSummary

    let owner: Owner
    var issued = Int64.max
    fileprivate(set) var items: [TaskItem] = []
    /// The idempotency keys that are still remembered.
    fileprivate(set) var records: [IdempotencyRecord] = []
    /// The least id that may be given next.
    fileprivate(set) var next: Int64 = 1
    private let time: Int64

    fileprivate init(owner: Owner, at time: Int64) {
        self.owner = owner
        self.time = time
    }

    /// The lines by owner, in the order in which servers lock owners; `time` in milliseconds since 1970, UTC.
    static func grouped(_ lines: [ArchiveLine], at time: Int64) -> [ImportOwner] {
        var all: [Owner: ImportOwner] = [:]
        for line in lines {
            if let owner = line.owner { all[owner, default: ImportOwner(owner: owner, at: time)].add(line) }
        }
        return all.values.sorted { $0.owner < $1.owner }
    }

    private mutating func add(_ line: ArchiveLine) {
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

    var reads: CommandReads { .rows(tasks: items.map(\.id), keys: records.map(\.key.key)) }

    /// The change gives the list a new origin, so that servers and clients do not use an older list in its place.
    func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> ImportSummary {
        var summary = ImportSummary()
        for item in items {
            if try tasks.revision(of: item.id) == nil {
                try tasks.insert(item, change: 0)
                summary.added += 1
            } else {
                summary.present += 1
                // A task that no task-server wrote differs as well.
                if try tasks.stored(item.id) != .success(item) { summary.differing += 1 }
            }
        }
        var row = try tasks.row() ?? OwnerRow()
        if summary.added > 0 || row.next < next {
            (row.next, row.change) = (max(row.next, next), row.change &+ 1)
            row.tasks &+= Int64(summary.added)
            try tasks.renew(row)
        }
        for record in records where try tasks.record(of: record.key.key)?.isLive(at: time) != true {
            try tasks.put(record)
        }
        if !records.isEmpty { try tasks.limitRecords(next: row.next) }
        return summary
    }
}
