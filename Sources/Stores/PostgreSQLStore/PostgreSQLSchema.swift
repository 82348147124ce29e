import Platform
package import PostgreSQL

/// The tables in PostgreSQL, as numbered migrations; a table records the number of those that a database has had.
///
/// A released migration is never changed: another change is another migration.
package enum PostgreSQLSchema {
    /// The version of the tables that this program reads and writes.
    package static var known: Int { migrations(Division(), areNew: true).count }

    /// The statements of each migration, for tables with this division, which may be new.
    private static func migrations(_ division: Division, areNew: Bool) -> [String] {
        [
            tables(partitions: division.partitions), boundsOfAttempts, details, changeNumbers(division),
            olderServers(mayRun: !areNew), repeating,
        ]
    }

    /// The first migration.
    ///
    /// Texts compare byte for byte ("C"). `owners` holds the next id, which is never used again, and the number of
    /// tasks; a row stays forever. `attempts` holds the task as it was added. There is no global counter and no index
    /// across owners, so no statement of an owner looks into another partition.
    private static func tables(partitions: Int?) -> String {
        let clause = partitions == nil ? "" : " PARTITION BY HASH (owner)"
        return """
            CREATE TABLE owners(
                owner text COLLATE "C" NOT NULL, next_id bigint NOT NULL, tasks bigint NOT NULL, PRIMARY KEY (owner)
            )\(clause);
            CREATE TABLE tasks(
                owner text COLLATE "C" NOT NULL, id bigint NOT NULL, text text COLLATE "C" NOT NULL,
                completed boolean NOT NULL, created bigint NOT NULL, modified bigint NOT NULL, revision bigint NOT NULL,
                PRIMARY KEY (owner, id)
            )\(clause);
            CREATE TABLE attempts(
                owner text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, fingerprint bigint NOT NULL,
                time bigint NOT NULL, id bigint NOT NULL, text text COLLATE "C" NOT NULL, completed boolean NOT NULL,
                PRIMARY KEY (owner, key)
            )\(clause);
            CREATE INDEX attempts_by_time ON attempts(owner, time);
            \(partitions.map { partitioning(of: ["owners", "tasks", "attempts"], into: $0) } ?? "")
            """
    }

    /// Version 2: indexes that find expired idempotency keys, by owner and by age.
    ///
    /// Deletes the keys that older versions kept too long.
    private static let boundsOfAttempts = """
        CREATE INDEX attempts_by_id ON attempts(owner, id);
        CREATE INDEX attempts_by_age ON attempts(time);
        DROP INDEX IF EXISTS attempts_by_time;
        DELETE FROM attempts USING owners
        WHERE owners.owner = attempts.owner AND attempts.id < owners.next_id - 1000;
        """

    /// Version 3: the details that a person may add to a task.
    ///
    /// The day is text (2026-11-30); NULL means that nothing is set. The migration changes no row. Servers of version 2
    /// go on working, because their statements name their columns. Both tables are locked for a moment, in the order in
    /// which additions use them.
    private static let details = """
        ALTER TABLE attempts ADD COLUMN due text COLLATE "C", ADD COLUMN notes text COLLATE "C",
            ADD COLUMN position double precision;
        ALTER TABLE tasks ADD COLUMN due text COLLATE "C", ADD COLUMN notes text COLLATE "C",
            ADD COLUMN position double precision;
        """

    /// Version 4: change numbers, and the time at which an owner was deleted, with the next id at that time.
    ///
    /// `deleted` and `first_id` are NULL for nearly all owners. `change` is the owner's last number, and the number of
    /// a task's last change: 0 for a change before this migration, or by a server of version 3, which goes on working.
    /// `forgotten` is the greatest number whose removal is no longer known. Older lists have the origin 1, others a
    /// random one. The migration changes no row. The numbers have no index: an index would make additions dearer, and a
    /// request for changes reads no more than a request for a list. Servers of version 3 do not know the mark of a
    /// deletion, so none of them may run when a person leaves.
    private static func changeNumbers(_ division: Division) -> String {
        let clause = division.partitions == nil ? "" : " PARTITION BY HASH (owner)"
        return """
            ALTER TABLE owners ADD COLUMN change bigint NOT NULL DEFAULT 0,
                ADD COLUMN forgotten bigint NOT NULL DEFAULT 0, ADD COLUMN origin bigint NOT NULL DEFAULT 1,
                ADD COLUMN deleted bigint, ADD COLUMN first_id bigint;
            CREATE INDEX owners_by_deletion ON owners(deleted) WHERE deleted IS NOT NULL;
            ALTER TABLE owners ALTER COLUMN origin SET DEFAULT \(newOrigin);
            ALTER TABLE tasks ADD COLUMN change bigint NOT NULL DEFAULT 0;
            CREATE TABLE removed_tasks(
                owner text COLLATE "C" NOT NULL, change bigint NOT NULL, id bigint NOT NULL, time bigint NOT NULL,
                PRIMARY KEY (owner, change)
            )\(clause);
            \(division.partitions.map { partitioning(of: ["removed_tasks"], into: $0) } ?? "")
            \(division.isDistributed ? distribution(of: "removed_tasks") : "")
            CREATE INDEX removed_tasks_by_time ON removed_tasks(time);
            """
    }

    /// Version 5: the end of the week in which servers of version 3 may run, in milliseconds since 1970, UTC; 0 in new
    /// tables.
    ///
    /// Such a server changes a list without a new number, so no list is cached until then.
    private static func olderServers(mayRun: Bool) -> String {
        let week = "(extract(epoch FROM now()) * 1000)::bigint + \(7 * 86_400_000)"
        return """
            ALTER TABLE task_server_schema ADD COLUMN older_until bigint NOT NULL DEFAULT 0;
            \(mayRun ? "UPDATE task_server_schema SET older_until = \(week);" : "")
            """
    }

    /// Version 6: the rule by which a task comes again, as text of RFC 5545.
    ///
    /// A server of version 5 goes on working, but makes no next task when it completes one.
    private static let repeating = """
        ALTER TABLE attempts ADD COLUMN repeat text COLLATE "C";
        ALTER TABLE tasks ADD COLUMN repeat text COLLATE "C";
        """

    /// The origin of a list that a server of version 3 makes, in SQL, as ``Tasks/ChangePoint/newOrigin`` in Swift.
    private static let newOrigin = "2 + floor(random() * 9007199254740990)::bigint"

    private static func partitioning(of tables: [String], into count: Int) -> String {
        tables.flatMap { table in
            (0..<count).map { number in
                "CREATE TABLE \(table)_p\(number) PARTITION OF \(table) "
                    + "FOR VALUES WITH (MODULUS \(count), REMAINDER \(number));"
            }
        }.joined(separator: "\n")
    }

    /// The number of migrations that the database has had; nil if it has none of these tables.
    package static func version(on connection: PipelineConnection) throws(PostgreSQLError) -> Int? {
        // This reads the catalog itself, because to_regclass may remember in a transaction that there was no table
        // before another server made the table.
        let found = try connection.run(
            """
            SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'task_server_schema' AND pg_table_is_visible(oid))
            """)
        guard found.boolean(0, 0) else { return nil }
        let rows = try connection.run("SELECT max(version)::bigint FROM task_server_schema")
        return rows.isNull(0, 0) ? nil : Int(rows.integer(0, 0))
    }

    /// The division of the tables by owners.
    package struct Division: Sendable {
        /// The number of partitions; nil if the tables have none.
        package var partitions: Int?
        /// Whether Citus distributes the tables over servers, each of which may fail alone.
        ///
        /// Then a statement that writes concerns one owner, and so does a transaction, except a move.
        package var isDistributed = false
    }

    package static func division(on connection: PipelineConnection) throws(PostgreSQLError) -> Division {
        let rows = try connection.run(
            """
            SELECT CASE relkind WHEN 'p' THEN (SELECT count(*) FROM pg_inherits WHERE inhparent = oid) END,
                to_regclass('pg_dist_partition') IS NOT NULL
            FROM pg_class WHERE oid = to_regclass('tasks')
            """)
        guard rows.count > 0 else { return Division() }
        var division = Division(partitions: rows.isNull(0, 0) ? nil : Int(rows.integer(0, 0)))
        if rows.boolean(0, 1) {
            let tables = "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = to_regclass('tasks')"
            division.isDistributed = try connection.run(tables).integer(0, 0) > 0
        }
        return division
    }

    private static func distribution(of table: String) -> String {
        let others = table == "owners" ? "" : ", colocate_with => 'owners'"
        return "SELECT create_distributed_table('\(table)', 'owner'\(others));"
    }

    /// Lets Citus distribute the tables, each owner's rows together; false if they were distributed before.
    static func distribute(on connection: PipelineConnection) throws(PostgreSQLError) -> Bool {
        guard try !division(on: connection).isDistributed else { return false }
        let tables = ["owners", "tasks", "attempts", "removed_tasks"].map(distribution)
        // Servers may connect to any node, and read the version there.
        for statement in tables + ["SELECT create_reference_table('task_server_schema')"] {
            try connection.runScript(statement)
        }
        return true
    }

    /// Runs the missing migrations in one transaction; returns the version before, or nil if no migration was missing.
    ///
    /// If many servers start together, one migrates and the others wait, also behind a pool of sessions.
    package static func migrate(on connection: PipelineConnection, partitions: Int?) throws(PostgreSQLError) -> Int? {
        // The tries take a minute and a half. A program that reads for longer, such as a dump, makes the start fail.
        let rollBack = { () -> Void in _ = try? connection.run("ROLLBACK") }
        return try PipelineConnection.retrying(
            atMost: 60, pause: { _ in 1_000_000_000 }, undo: rollBack
        ) { () throws(PostgreSQLError) in
            let current = try version(on: connection) ?? 0
            return current < known ? try migrateAtOnce(on: connection, partitions: partitions) : nil
        }
    }

    private static func migrateAtOnce(
        on connection: PipelineConnection, partitions: Int?
    ) throws(PostgreSQLError) -> Int? {
        _ = try connection.run("BEGIN")
        _ = try connection.run("SELECT pg_advisory_xact_lock(\(lock))")
        // While a migration waits for a table, later statements on the table wait, too: half a second is the limit.
        _ = try connection.run("SELECT set_config('lock_timeout', '500', true)")
        let before = try version(on: connection) ?? 0
        if before == 0 {
            try connection.runScript("CREATE TABLE IF NOT EXISTS task_server_schema(version bigint PRIMARY KEY)")
        }
        let found = before == 0 ? Division(partitions: partitions) : try division(on: connection)
        // By default Citus changes several shards at once, and a later statement could not see all of the changes.
        if found.isDistributed { try connection.runScript("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'") }
        for (index, migration) in migrations(found, areNew: before == 0).enumerated().dropFirst(before) {
            // Citus takes one statement at a time. None of them has a semicolon inside.
            for statement in migration.split(separator: ";") where !statement.allSatisfy(\.isWhitespace) {
                try connection.runScript(String(statement))
            }
            _ = try connection.run("INSERT INTO task_server_schema(version) VALUES ($1)", [.integer(Int64(index + 1))])
        }
        _ = try connection.run("COMMIT")
        return before < known ? before : nil
    }

    /// "TASK" and "SRVR", so that no other program's lock is likely to be the same.
    private static let lock: Int64 = 0x5441_534B_5352_5652
}

/// Transactions of commands, which may run beside servers.
extension PipelineConnection {
    /// Runs a body that begins and commits a transaction, again while others are in its way.
    ///
    /// A transaction that failed is undone. `pause` gives the nanoseconds to wait after this many failures.
    static func retrying<Outcome>(
        atMost tries: Int, pause: (Int) -> UInt64, undo: () -> Void, _ body: () throws(PostgreSQLError) -> Outcome
    ) throws(PostgreSQLError) -> Outcome {
        var failures = 0
        while true {
            do throws(PostgreSQLError) {
                return try body()
            } catch {
                undo()
                failures += 1
                let mayPass = [.locked, .retryable, .unprepared].contains(error.kind)
                guard mayPass, failures < tries else { throw error }
                SystemTime().sleep(nanoseconds: pause(failures))
            }
        }
    }
}
