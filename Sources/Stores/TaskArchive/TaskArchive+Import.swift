import Tasks
import SQLiteStore
package import Platform
import SQLite

extension TaskArchive {
    /// See ``LineArchive/importLines(_:goOn:)``; a running server notices within a second.
    package func importLines(
        _ nextLine: LineInput, goOn: (ImportSummary) -> Bool
    ) throws(ArchiveError) -> ImportSummary {
        let target = try openForImport()
        let tables = try ArchiveError.sqlite { () throws(SQLiteError) in
            try ImportTables.compiled(on: target.connection)
        }
        var summary = ImportSummary()
        var input = ArchiveInput()
        while goOn(summary) {
            let stretch = try input.next(nextLine)
            summary = try added(stretch.lines, to: summary, tables, on: target.connection)
            if let fault = stretch.fault { throw fault }
            guard !stretch.isLast else {
                summary.end = input.isWhole ? .whole : .cut
                return summary
            }
        }
        return summary
    }

    private struct Target: ~Copyable {
        let connection: Connection
        /// Held where no server runs, so that none starts on a half of it.
        let lock: DatabaseFile?
    }

    private func openForImport() throws(ArchiveError) -> Target {
        do throws(StoreOpenError) {
            let lock = try file.lock()
            let connection = try file.openForWriting(maximumPages: nil) { _ in }
            connection.setBusyTimeout(milliseconds: 60_000)
            return Target(connection: connection, lock: lock)
        } catch .locked {
            // A server runs, so the file is there and up to date.
            let connection = try ArchiveError.opening { () throws(StoreOpenError) in try file.open(.readWrite) }
            connection.setBusyTimeout(milliseconds: 60_000)
            return Target(connection: connection, lock: nil)
        } catch {
            throw .database(error)
        }
    }

    private func added(
        _ lines: [ArchiveLine], to summary: ImportSummary, _ tables: borrowing ImportTables,
        on connection: borrowing Connection
    ) throws(ArchiveError) -> ImportSummary {
        guard !lines.isEmpty else { return summary }
        let now = SystemTime().wallMilliseconds
        return try ArchiveError.sqlite { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                var summary = summary
                for owner in OwnersLines.grouped(lines, at: now) { try tables.add(owner, &summary) }
                return summary
            }
        }
    }
}
