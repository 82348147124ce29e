package import Basics
package import Platform
import SQLite
import SQLiteStore
import Tasks

/// Copies of a SQLite database, as a file or line by line, and imports into one.
///
/// Reading takes no lock that a server would notice; an import needs the database for itself. Every method blocks until it is
/// done.
package struct SQLiteArchive: LineArchive {
    private let file: SQLiteFile

    /// The database at this path, which need not be open anywhere.
    package init(path: String) {
        file = SQLiteFile(path)
    }

    /// Writes the present state into a new database file, which appears whole, and on the disk, or not at all.
    package func backup(to target: String) throws(OperatorError) {
        guard !File.exists(target) else {
            throw OperatorError("\(target) exists, and is not replaced", advice: "give another name or move it away")
        }
        let source = try open()
        let partial = target + ".partial"
        File.remove(partial)
        do throws(OperatorError) {
            // Created first, because SQLite would let every user read it.
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.createIfMissing(partial) }
            try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
                try source.prepare("VACUUM INTO ?1").run(partial)
            }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.publish(partial, as: target) }
        } catch {
            File.remove(partial)
            throw error
        }
    }

    package func countTasks() throws(OperatorError) -> Int {
        let source = try open()
        return try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            Int(try source.integer("SELECT sum(tasks) FROM owners") ?? 0)
        }
    }

    package func export(
        to output: LineOutput, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> ExportSummary {
        try SQLiteExport.compiled(on: open()).export(to: output, shouldContinue: shouldContinue)
    }

    package func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        try SQLiteImport.open(file).importLines(nextLine, shouldContinue: shouldContinue)
    }

    private func open() throws(OperatorError) -> Connection {
        try rethrowing(as: OperatorError.init) { () throws(StoreOpenError) in try file.open(.readOnly) }
    }
}
