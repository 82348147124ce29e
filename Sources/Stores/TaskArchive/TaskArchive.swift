import Tasks
import SQLiteStore
package import Platform
import SQLite

/// Copies of a SQLite database, in whole or line by line, also beside a server that runs on it.
///
/// Reading takes no lock that a server would notice. Every method blocks until it is done.
package struct TaskArchive: LineArchive {
    let file: StoreFile

    /// The database of this path, which need not be open anywhere.
    package init(path: String) {
        file = StoreFile(path)
    }

    /// Writes the state of now into a new database file, which appears whole, and on the disk, or not at all.
    package func backup(to target: String) throws(ArchiveError) {
        guard !File.exists(target) else { throw .targetExists(path: target) }
        let source = try open()
        let partial = target + ".partial"
        File.remove(partial)
        do throws(ArchiveError) {
            // Made first, because SQLite would let everybody read it.
            try system { () throws(SystemError) in try File.createIfMissing(partial) }
            try ArchiveError.sqlite { () throws(SQLiteError) in
                try source.prepare("VACUUM INTO ?1").run(partial)
            }
            try system { () throws(SystemError) in try File.publish(partial, as: target) }
        } catch {
            File.remove(partial)
            throw error
        }
    }

    /// See ``LineArchive/countTasks()``.
    package func countTasks() throws(ArchiveError) -> Int {
        let source = try open()
        return try ArchiveError.sqlite { () throws(SQLiteError) in
            Int(try source.integer("SELECT sum(tasks) FROM owners") ?? 0)
        }
    }

    /// See ``LineArchive/export(_:to:goOn:)``.
    package func export(
        _ start: ExportStart, to output: LineOutput, goOn: (Int) -> Bool
    ) throws(ArchiveError) -> ExportSummary {
        try ExportTables.compiled(on: open()).export(start, to: output, goOn: goOn)
    }

    private func open() throws(ArchiveError) -> Connection {
        try ArchiveError.opening { () throws(StoreOpenError) in try file.open(.readOnly) }
    }

    private func system(_ body: () throws(SystemError) -> Void) throws(ArchiveError) {
        do throws(SystemError) { try body() } catch { throw .file(error) }
    }
}
