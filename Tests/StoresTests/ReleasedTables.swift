/// The tables of versions 1 and 2, which differ only in their indexes, and of version 3, which has details.
///
/// Never to be changed. `scripts/test-packages` reads the tables of SQLite, too.
enum ReleasedTables {
    static func sqlite(version: Int) -> String {
        let byID = version == 1 ? "" : "CREATE INDEX attempts_by_id ON attempts(owner, id);"
        return """
            \(sqliteTables)
            CREATE INDEX attempts_by_time ON attempts(time); \(byID) \(version < 3 ? "" : sqliteDetails)
            PRAGMA application_id = 0x5441534B; PRAGMA user_version = \(version);
            """
    }

    private static let sqliteDetails = ["tasks", "attempts"].flatMap { table in
        ["due TEXT", "notes TEXT", "position REAL"].map { "ALTER TABLE \(table) ADD COLUMN \($0);" }
    }.joined(separator: " ")

    private static let sqliteTables = """
        CREATE TABLE owners(
            owner TEXT NOT NULL PRIMARY KEY, next_id INTEGER NOT NULL, tasks INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE tasks(
            owner TEXT NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL, completed INTEGER NOT NULL,
            created INTEGER NOT NULL, modified INTEGER NOT NULL, revision INTEGER NOT NULL,
            PRIMARY KEY (owner, id)
        ) WITHOUT ROWID;
        CREATE TABLE attempts(
            owner TEXT NOT NULL, key TEXT NOT NULL, fingerprint INTEGER NOT NULL, time INTEGER NOT NULL,
            id INTEGER NOT NULL, text TEXT NOT NULL, completed INTEGER NOT NULL,
            PRIMARY KEY (owner, key)
        ) WITHOUT ROWID;
        """

    static func postgreSQL(version: Int, isDivided: Bool) -> String {
        let indexes =
            version == 1
            ? "CREATE INDEX attempts_by_time ON attempts(owner, time);"
            : "CREATE INDEX attempts_by_id ON attempts(owner, id); CREATE INDEX attempts_by_age ON attempts(time);"
        return """
            CREATE TABLE task_server_schema(version bigint PRIMARY KEY);
            INSERT INTO task_server_schema SELECT generate_series(1, \(version));
            \(postgreSQLTables(isDivided)) \(indexes) \(partitions(isDivided)) \(version < 3 ? "" : postgreSQLDetails)
            """
    }

    private static let postgreSQLDetails = ["tasks", "attempts"].map { table in
        """
        ALTER TABLE \(table) ADD COLUMN due text COLLATE "C", ADD COLUMN notes text COLLATE "C",
            ADD COLUMN position double precision;
        """
    }.joined(separator: " ")

    private static func postgreSQLTables(_ isDivided: Bool) -> String {
        let clause = isDivided ? " PARTITION BY HASH (owner)" : ""
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
            """
    }

    /// Two of each table, after the indexes.
    private static func partitions(_ isDivided: Bool) -> String {
        guard isDivided else { return "" }
        return ["owners", "tasks", "attempts"].flatMap { table in
            (0..<2).map {
                "CREATE TABLE \(table)_p\($0) PARTITION OF \(table) FOR VALUES WITH (MODULUS 2, REMAINDER \($0));"
            }
        }.joined(separator: "\n")
    }
}
