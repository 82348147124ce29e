package import Basics
package import Platform
import PostgreSQL
import PostgreSQLStore
import Tasks

/// Copies of a PostgreSQL database line by line, also while servers use it; the lines are those of ``SQLiteArchive``.
///
/// Every method blocks until it is done.
package struct PostgreSQLArchive: LineArchive {
    private let connectionString: String

    /// The database of a connection string of libpq.
    package init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    package func countTasks() throws(OperatorError) -> Int {
        let connection = try connect()
        return try rethrowing(as: OperatorError.init) { () throws(PostgreSQLError) in
            Int(try connection.run("SELECT coalesce(sum(tasks), 0)::bigint FROM owners").integer(0, 0))
        }
    }

    package func export(
        to output: LineOutput, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> ExportSummary {
        try PostgreSQLExport(connection: connect()).export(to: output, shouldContinue: shouldContinue)
    }

    package func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        let target = try rethrowing(as: OperatorError.init) { () throws(StoreOpenError) in try openTarget() }
        return try target.importLines(nextLine, shouldContinue: shouldContinue)
    }

    private func openTarget() throws(StoreOpenError) -> PostgreSQLImport {
        let database = try PostgreSQLDatabase(connectionString)
        let facts = try database.prepare(partitions: nil)
        return PostgreSQLImport(connection: try database.connect(), isForeign: facts.isForeign)
    }

    private func connect() throws(OperatorError) -> PipelineConnection {
        try rethrowing(as: OperatorError.init) { () throws(StoreOpenError) in
            try PostgreSQLDatabase(connectionString, onlyReads: true)
                .connectUpToDate(ifMissing: "there is nothing to export")
        }
    }
}
