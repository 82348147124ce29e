import SQLite

/// The tables, as numbered migrations of an empty file; a file records the last applied number (`PRAGMA user_version`).
///
/// A released migration is never changed: another change is another migration.
package enum SQLiteSchema {
    /// The version that this program reads and writes.
    package static var known: Int { migrations.count }

    /// Marks the file as ours (`PRAGMA application_id`): "TASK".
    static let application: Int64 = 0x5441_534B

    // `owners` holds the next id, which is never used again, and the number of tasks, so that neither a limit nor an
    // id needs a count. `attempts` holds the task as it was added, since the task may change or go before the retry.
    private static let migrations = [
        """
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
        CREATE INDEX attempts_by_time ON attempts(time);
        """,
        // An index for the keys of tasks that are not among their owner's newest. Keys that older programs kept go.
        """
        CREATE INDEX attempts_by_id ON attempts(owner, id);
        DELETE FROM attempts
        WHERE id < (SELECT next_id FROM owners WHERE owners.owner = attempts.owner) - 1000;
        """,
        // The details of a task: the day as text (2026-11-30), NULL where nothing is set. The migration writes no row.
        """
        ALTER TABLE tasks ADD COLUMN due TEXT;
        ALTER TABLE tasks ADD COLUMN notes TEXT;
        ALTER TABLE tasks ADD COLUMN position REAL;
        ALTER TABLE attempts ADD COLUMN due TEXT;
        ALTER TABLE attempts ADD COLUMN notes TEXT;
        ALTER TABLE attempts ADD COLUMN position REAL;
        """,
        // Change numbers: `change` is the owner's last number, and the number of a task's last change, 0 for one before
        // this migration. `forgotten` is the greatest number whose removal is no longer known. Older lists have the
        // origin 1, others a random one. The migration writes no row. The numbers have no index: an index would make
        // additions a tenth dearer, and a request for changes reads no more than one for a whole list. `deleted` is the
        // time at which an owner was deleted, and `first_id` the next id at that time; both are NULL for nearly all
        // owners.
        """
        ALTER TABLE owners ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE owners ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE owners ADD COLUMN origin INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE owners ADD COLUMN deleted INTEGER;
        ALTER TABLE owners ADD COLUMN first_id INTEGER;
        CREATE INDEX owners_by_deletion ON owners(deleted) WHERE deleted IS NOT NULL;
        ALTER TABLE tasks ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE removed_tasks(
            owner TEXT NOT NULL, change INTEGER NOT NULL, id INTEGER NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY (owner, change)
        ) WITHOUT ROWID;
        CREATE INDEX removed_tasks_by_time ON removed_tasks(time);
        """,
        // The rule by which a task comes again, as text of RFC 5545. The migration writes no row.
        """
        ALTER TABLE tasks ADD COLUMN repeat TEXT;
        ALTER TABLE attempts ADD COLUMN repeat TEXT;
        """,
    ]

    /// The version of the tables, 0 in an empty file; nil in a file of another program.
    static func version(of connection: borrowing Connection) throws(SQLiteError) -> Int? {
        let version = Int(try connection.integer("PRAGMA user_version") ?? 0)
        let isOurs = try connection.integer("PRAGMA application_id") == application && version >= 0
        if isOurs { return version }
        let objects = try connection.integer("SELECT count(*) FROM sqlite_master") ?? 0
        return objects == 0 && version == 0 ? 0 : nil
    }

    /// Applies the missing migrations and their number, in one transaction: a new file is synchronized once for all.
    static func migrate(_ connection: borrowing Connection, from version: Int) throws(SQLiteError) {
        guard version < migrations.count else { return }
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            for migration in migrations.dropFirst(version) { try connection.execute(migration) }
            let numbers = "PRAGMA application_id = \(application); PRAGMA user_version = \(migrations.count)"
            try connection.execute(numbers)
            try connection.execute("COMMIT")
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
