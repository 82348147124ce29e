import Tasks
import PostgreSQLStore
package import Platform
import PostgreSQL

/// Copies of a PostgreSQL database line by line, also while servers work on it; the lines are those of ``TaskArchive``.
///
/// Every method blocks until it is done.
package struct PostgreSQLArchive: LineArchive {
    private let connectionString: String

    /// The database that a connection string of libpq names.
    package init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// See ``LineArchive/countTasks()``.
    package func countTasks() throws(ArchiveError) -> Int {
        let connection = try connect()
        return try ArchiveError.postgresql { () throws(PostgreSQLError) in
            Int(try connection.run("SELECT coalesce(sum(tasks), 0)::bigint FROM owners").integer(0, 0))
        }
    }

    /// See ``LineArchive/export(_:to:goOn:)``.
    package func export(
        _ start: ExportStart, to output: LineOutput, goOn: (Int) -> Bool
    ) throws(ArchiveError) -> ExportSummary {
        try PostgreSQLExport(connection: connect()).export(start, to: output, goOn: goOn)
    }

    /// See ``LineArchive/importLines(_:goOn:)``.
    package func importLines(
        _ nextLine: LineInput, goOn: (ImportSummary) -> Bool
    ) throws(ArchiveError) -> ImportSummary {
        let target = try ArchiveError.opening { () throws(StoreOpenError) in try openTarget() }
        var summary = ImportSummary()
        var input = ArchiveInput()
        while goOn(summary) {
            let stretch = try input.next(nextLine)
            let people = OwnersLines.grouped(stretch.lines, at: SystemTime().wallMilliseconds)
            // A commit across foreign servers would not be one.
            for group in target.isForeign ? people.map({ [$0] }) : [people] where !group.isEmpty {
                try ArchiveError.postgresql { () throws(PostgreSQLError) in try target.add(group, &summary) }
            }
            if let fault = stretch.fault { throw fault }
            guard !stretch.isLast else {
                summary.end = input.isWhole ? .whole : .cut
                return summary
            }
        }
        return summary
    }

    private func openTarget() throws(StoreOpenError) -> PostgreSQLImport {
        let database = try PostgreSQLDatabase(connectionString)
        let facts = try database.prepare(partitions: nil)
        return PostgreSQLImport(connection: try database.connect(), isForeign: facts.isForeign)
    }

    private func connect() throws(ArchiveError) -> PipelineConnection {
        try ArchiveError.opening { () throws(StoreOpenError) in
            let database = try PostgreSQLDatabase(connectionString, onlyReads: true)
            guard try database.checkedVersion() == PostgreSQLSchema.known else {
                throw .refused(
                    "the database \(database.name) has no tables of this task-server; there is nothing to export")
            }
            return try database.connect()
        }
    }
}
