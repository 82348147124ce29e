package import Basics
package import PostgreSQL
import Tasks

/// A PostgreSQL database: reached, checked, and brought up to date.
package struct PostgreSQLDatabase {
    package let target: ConnectionTarget
    /// Whether nothing will be written, so that a standby or a role that may only read is enough.
    private let onlyReads: Bool

    package init(_ string: String, onlyReads: Bool = false) throws(OperatorError) {
        self.onlyReads = onlyReads
        target = try rethrowing(as: Self.misread) { () throws(PostgreSQLError) in
            try ConnectionTarget(parsing: string)
        }
    }

    private static func misread(_ error: PostgreSQLError) -> OperatorError {
        OperatorError(
            "TASKS_DATABASE is no connection string of PostgreSQL (\(error.message))",
            advice: "one is postgresql://user:password@host:5432/tasks?sslmode=verify-full")
    }

    package var name: String { target.name }

    /// The mistake in a connection string, found without asking a server; nil if there is none.
    package static func mistake(in string: String) -> String? {
        do throws(OperatorError) {
            _ = try PostgreSQLDatabase(string)
            return nil
        } catch {
            return error.message
        }
    }

    /// Connects and checks all that can be checked before work; makes the tables if they are missing.
    ///
    /// Returns the version before the tables were brought up to date, or nil if they were up to date, and the time
    /// until which servers may run that do not number changes.
    package func prepare(
        partitions: Int?
    ) throws(OperatorError) -> (migratedFrom: Int?, division: PostgreSQLSchema.Division, olderUntil: Int64) {
        let connection = try connect()
        _ = try checkedVersion(on: connection)
        let (version, found, olderUntil) = try translating { () throws(PostgreSQLError) in
            let version = try PostgreSQLSchema.migrate(on: connection, partitions: partitions)
            let older = try connection.run("SELECT max(older_until) FROM task_server_schema")
            return (version, try PostgreSQLSchema.division(on: connection), older.integer(0, 0))
        }
        // A server of a newer version may have been faster.
        _ = try checkedVersion(on: connection)
        return (version, found, olderUntil)
    }

    /// A session with a database whose tables are those of this version.
    package func connectUpToDate() throws(OperatorError) -> PipelineConnection {
        let connection = try connect()
        guard let version = try checkedVersion(on: connection) else {
            throw OperatorError(
                "the database \(name) has no tables of this task-server",
                advice: "check TASKS_DATABASE, or run `task-server migrate`")
        }
        guard version == PostgreSQLSchema.known else {
            throw .olderDatabase(name, version: version, known: PostgreSQLSchema.known)
        }
        return connection
    }

    /// The version of the tables, nil if there are none; throws if a server could not work with them.
    func checkedVersion(on connection: PipelineConnection) throws(OperatorError) -> Int? {
        try refuseMissingRights(on: connection)
        let found = try translating { () throws(PostgreSQLError) in try PostgreSQLSchema.version(on: connection) }
        guard let version = found else { return nil }
        guard version > 0 else { throw .foreignDatabase(name) }
        guard version <= PostgreSQLSchema.known else {
            throw .newerDatabase(name, version: version, known: PostgreSQLSchema.known)
        }
        return version
    }

    /// A session with a server, which takes writes if anything will be written.
    package func connect() throws(OperatorError) -> PipelineConnection {
        let connection = try translating { () throws(PostgreSQLError) in try PipelineConnection(to: target) }
        let (encoding, isReadOnly) = try translating { () throws(PostgreSQLError) in
            let rows = try connection.run(
                "SELECT current_setting('server_encoding'), current_setting('transaction_read_only') = 'on'")
            return (rows.text(0, 0), rows.boolean(0, 1))
        }
        guard encoding == "UTF8" else {
            throw OperatorError(
                "the database \(name) has the encoding \(encoding)", advice: "make one with ENCODING 'UTF8'")
        }
        guard !isReadOnly || onlyReads else { throw onlyReadsError }
        return connection
    }

    /// Refuses a role that lacks rights on the tables; in a database without tables there is nothing to refuse.
    private func refuseMissingRights(on connection: PipelineConnection) throws(OperatorError) {
        let missing = try translating { () throws(PostgreSQLError) in
            let rows = try connection.run(
                """
                SELECT string_agg(rights || ' on ' || t, '; '), current_user::text FROM (
                    SELECT t, string_agg(r, ', ') AS rights
                    FROM unnest(ARRAY['task_server_schema', 'owners', 'tasks', 'attempts', 'removed_tasks']) t,
                        unnest($1) r
                    WHERE to_regclass('task_server_schema') IS NOT NULL
                        AND (t <> 'task_server_schema' OR r = 'SELECT') AND NOT has_table_privilege(to_regclass(t), r)
                    GROUP BY t ORDER BY t
                ) AS missing
                """, [.texts(onlyReads ? ["SELECT"] : ["SELECT", "INSERT", "UPDATE", "DELETE"])])
            return rows.isNull(0, 0) ? nil : (rights: rows.text(0, 0), user: rows.text(0, 1))
        }
        guard let missing else { return }
        throw OperatorError(
            "the role \(missing.user) lacks rights in the database \(name) (\(missing.rights))",
            advice: "GRANT them, as the owner of the tables")
    }

    /// Refuses a role that may make no tables, in a database without tables.
    func refuseMissingRightToMakeTables(on connection: PipelineConnection) throws(OperatorError) {
        let schema = try translating { () throws(PostgreSQLError) in
            let rows = try connection.run(
                "SELECT current_schema()::text, has_schema_privilege(current_schema(), 'CREATE')")
            return rows.isNull(0, 0) ? nil : (name: rows.text(0, 0), takesTables: rows.boolean(0, 1))
        }
        guard let schema else { throw noSchema }
        guard schema.takesTables else { throw noTables("no CREATE on the schema \(schema.name)") }
    }

    private var onlyReadsError: OperatorError {
        onlyReads
            ? OperatorError(
                "the database \(name) only reads, and TASKS_DATABASE asks for a primary",
                advice: "to export from it all the same, add target_session_attrs=any")
            : OperatorError(
                "the database \(name) only reads: it is a standby, or set to default_transaction_read_only",
                advice: "name the primary, or all hosts with target_session_attrs=read-write")
    }

    private func noTables(_ reason: String) -> OperatorError {
        OperatorError(
            "the role has no right to make tables in the database \(name) (\(reason))",
            advice: "run `task-server migrate` as a role that has, then GRANT SELECT, INSERT, UPDATE, DELETE on them")
    }

    private var noSchema: OperatorError {
        OperatorError(
            "the role may use no schema in the database \(name)",
            advice: "GRANT USAGE on that of the tables, and CREATE to migrate")
    }

    /// Runs statements; an error says what the operator can do.
    package func translating<Outcome>(_ body: () throws(PostgreSQLError) -> Outcome) throws(OperatorError) -> Outcome {
        try rethrowing(as: openError, body)
    }

    private func openError(_ error: PostgreSQLError) -> OperatorError {
        switch error.kind {
        case .readOnly: onlyReadsError
        case .disconnected where UnreachableDatabase.isReadOnly(error): onlyReadsError
        case .disconnected, .exhausted:
            OperatorError(
                "the database \(name) cannot be reached (\(error.description))",
                advice: UnreachableDatabase.advice(error))
        case .full: .fullDatabase(name)
        case .forbidden: noTables(error.description)
        case .other where error.sqlState == "42P07": .foreignDatabase(name)
        case .other where error.sqlState == "3F000": noSchema
        case .retryable, .locked, .transactionFailed, .unprepared, .cancelled, .other:
            .unopenedDatabase(name, error.description)
        }
    }
}
