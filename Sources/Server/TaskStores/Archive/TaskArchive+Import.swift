public import Platform
import SQLite

/// What an import did.
public struct ImportSummary: Sendable, Equatable {
    /// Tasks that were not there.
    public var added = 0
    /// Tasks whose owner and id were there: they stayed as they were.
    public var present = 0

    /// Nothing yet.
    public init() {}
}

extension TaskArchive {
    /// Adds the lines of an export, ids and times kept; repeating it changes nothing.
    ///
    /// A missing database is made. Beside a running server it adds in small transactions, between which the server
    /// goes on; the server notices within a second. An empty line is skipped.
    ///
    /// - Parameter nextLine: the next line without its end; nil at the end.
    /// - Returns: how many tasks were new, and how many were there.
    /// - Throws: ``ArchiveError``; with `line`, what stood before that line is in.
    public func importLines(
        _ nextLine: () throws(SystemError) -> [UInt8]?
    ) throws(ArchiveError) -> ImportSummary {
        let target = try openForImport()
        let tables = try database { () throws(SQLiteError) in try ImportTables.compiled(on: target.connection) }
        var summary = ImportSummary()
        var number = 0
        while true {
            let chunk = try ArchiveChunk.next(&number, nextLine)
            try add(chunk.lines, to: tables, on: target.connection, &summary)
            if let fault = chunk.fault { throw fault }
            guard !chunk.isLast else { return summary }
        }
    }

    private struct Target: ~Copyable {
        let connection: Connection
        /// Held where no server runs, so that none starts on a half of it.
        let lock: FileLock?
    }

    private func openForImport() throws(ArchiveError) -> Target {
        do throws(StoreOpenError) {
            let lock = try file.lock()
            let connection = try file.openForWriting(maximumPages: nil) { _ in }
            connection.setBusyTimeout(milliseconds: 60_000)
            return Target(connection: connection, lock: lock)
        } catch .locked {
            // A server runs, so the file is there and up to date.
            let connection = try opening { () throws(StoreOpenError) in try file.open(.readWrite) }
            connection.setBusyTimeout(milliseconds: 60_000)
            return Target(connection: connection, lock: nil)
        } catch {
            throw .database(error)
        }
    }

    private func add(
        _ lines: [ArchiveLine], to tables: borrowing ImportTables, on connection: borrowing Connection,
        _ summary: inout ImportSummary
    ) throws(ArchiveError) {
        guard !lines.isEmpty else { return }
        var (added, tasks) = (0, 0)
        try database { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                for line in lines {
                    if case .task = line { tasks += 1 }
                    if try tables.add(line) { added += 1 }
                }
            }
        }
        summary.added += added
        summary.present += tasks - added
    }
}
