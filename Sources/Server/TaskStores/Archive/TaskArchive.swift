public import Platform
import SQLite
import Tasks

/// Copies of a SQLite database, in whole or line by line, also beside a server that runs on it.
///
/// Reading takes no lock that a server would notice. Every method blocks until it is done.
public struct TaskArchive: LineArchive {
    let file: StoreFile

    /// The database of this path, which need not be open anywhere.
    public init(path: String) {
        file = StoreFile(path)
    }

    /// Writes the state of now into a new database file, which appears whole, and on the disk, or not at all.
    public func backup(to target: String) throws(ArchiveError) {
        guard !File.exists(target) else { throw .targetExists(path: target) }
        let source = try opening { () throws(StoreOpenError) in try file.open(.readOnly) }
        let partial = target + ".partial"
        File.remove(partial)
        do throws(ArchiveError) {
            // Made first, because SQLite would let everybody read it.
            try system { () throws(SystemError) in try File.createIfMissing(partial) }
            try database { () throws(SQLiteError) in try source.prepare("VACUUM INTO ?1").run(partial) }
            try system { () throws(SystemError) in try File.publish(partial, as: target) }
        } catch {
            File.remove(partial)
            throw error
        }
    }

    /// Hands every task over as one line of JSON, without the line's end, ordered by owner and id; the number of tasks.
    ///
    /// Goes by pages, so that a slow reader does not keep the log of a running server from being cut. Each line shows
    /// one state of its task; what changes meanwhile may be in or not. At the end come lines with an owner and a `next`
    /// id, where the newest tasks are gone, so that their ids are never given again.
    public func export(to output: ([UInt8]) throws(SystemError) -> Void) throws(ArchiveError) -> Int {
        let source = try opening { () throws(StoreOpenError) in try file.open(.readOnly) }
        let tables = try database { () throws(SQLiteError) in try ExportTables.compiled(on: source) }
        var count = 0
        var last = ExportTables.Position.start
        while true {
            let page = try database { () throws(SQLiteError) in try tables.tasks(after: last) }
            for item in page { try system { () throws(SystemError) in try output(ArchiveLine.task(item).json) } }
            guard let end = page.last else { break }
            (count, last) = (count + page.count, ExportTables.Position(owner: end.owner.identifier, id: end.id))
        }
        try exportOwners(tables, to: output)
        return count
    }

    private func exportOwners(
        _ tables: borrowing ExportTables, to output: ([UInt8]) throws(SystemError) -> Void
    ) throws(ArchiveError) {
        var last = ""
        while true {
            let page = try database { () throws(SQLiteError) in try tables.owners(after: last) }
            for owner in page {
                try system { () throws(SystemError) in
                    try output(ArchiveLine.owner(Owner(owner.name), next: owner.next).json)
                }
            }
            guard let end = page.last else { return }
            last = end.name
        }
    }

    func opening<Outcome: ~Copyable>(
        _ body: () throws(StoreOpenError) -> Outcome
    ) throws(ArchiveError) -> Outcome {
        do throws(StoreOpenError) { return try body() } catch { throw .database(error) }
    }

    func system(_ body: () throws(SystemError) -> Void) throws(ArchiveError) {
        do throws(SystemError) { try body() } catch { throw .file(error) }
    }

    func database<Outcome: ~Copyable>(_ body: () throws(SQLiteError) -> Outcome) throws(ArchiveError) -> Outcome {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw error.kind == .full ? .full : .failed(reason: error.description)
        }
    }
}
