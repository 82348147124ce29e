import SQLite
import Tasks

/// The statements of the writer, compiled once; only its thread holds them.
struct WriteTables: ~Copyable {
    private let begin: Statement
    private let commit: Statement
    private let dataVersion: Statement
    private let takeID: Statement
    private let giveBack: Statement
    private let insert: Statement
    private let find: Statement
    private let update: Statement
    private let delete: Statement
    private let deleteText: Statement
    let connection: Connection

    /// Compiles them.
    ///
    /// A function and not an initializer, because a value that cannot be copied is made whole or not at all.
    static func compiled(on connection: consuming Connection) throws(SQLiteError) -> WriteTables {
        WriteTables(
            begin: try connection.prepare("BEGIN IMMEDIATE"), commit: try connection.prepare("COMMIT"),
            dataVersion: try connection.prepare("PRAGMA data_version"), takeID: try connection.prepare(takeID),
            giveBack: try connection.prepare("UPDATE owners SET tasks = tasks - ?2 WHERE owner = ?1"),
            insert: try connection.prepare(insert),
            find: try connection.prepare("SELECT \(TaskRow.columns) FROM tasks WHERE owner = ?1 AND id = ?2"),
            update: try connection.prepare(update),
            delete: try connection.prepare("DELETE FROM tasks WHERE owner = ?1 AND id = ?2"),
            deleteText: try connection.prepare(deleteText), connection: connection)
    }

    private static let takeID = """
        INSERT INTO owners(owner, next_id, tasks) VALUES (?1, 2, 1)
        ON CONFLICT(owner) DO UPDATE SET next_id = next_id + 1, tasks = tasks + 1 WHERE tasks < ?2
        RETURNING next_id - 1
        """
    private static let insert = "INSERT INTO tasks(owner, \(TaskRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
    private static let update =
        "UPDATE tasks SET text = ?3, completed = ?4, modified = ?5, revision = ?6 WHERE owner = ?1 AND id = ?2"
    /// Goes through one owner's tasks, which lie side by side; an index of texts would cost every addition.
    private static let deleteText = "DELETE FROM tasks WHERE owner = ?1 AND text = ?2"

    func beginTransaction() throws(SQLiteError) { try begin.run() }

    func commitTransaction() throws(SQLiteError) { try commit.run() }

    /// A number that changes when another connection has committed.
    func versionOfData() throws(SQLiteError) -> Int64 {
        defer { dataVersion.reset() }
        return try dataVersion.step() ? dataVersion.integer(0) : 0
    }

    /// The next id of an owner, or nil if as many tasks are there as the limit allows.
    func takeID(of owner: Owner, limit: Int) throws(SQLiteError) -> Int64? {
        guard limit > 0 else { return nil }
        defer { takeID.reset() }
        try takeID.bind(owner.identifier, Int64(limit))
        return try takeID.step() ? takeID.integer(0) : nil
    }

    func insert(_ item: TaskItem) throws(SQLiteError) {
        try insert.run(
            item.owner.identifier, item.id, item.text.value, item.completed, item.created, item.modified, item.revision)
    }

    func find(_ id: Int64, of owner: Owner) throws(SQLiteError) -> TaskItem? {
        defer { find.reset() }
        try find.bind(owner.identifier, id)
        return try find.step() ? TaskRow.item(in: find, of: owner) : nil
    }

    func update(_ item: TaskItem) throws(SQLiteError) {
        try update.run(
            item.owner.identifier, item.id, item.text.value, item.completed, item.modified, item.revision)
    }

    func delete(_ id: Int64, of owner: Owner) throws(SQLiteError) -> Int {
        try delete.run(owner.identifier, id)
        return try discharged(of: owner)
    }

    func delete(_ text: TaskText, of owner: Owner) throws(SQLiteError) -> Int {
        try deleteText.run(owner.identifier, text.value)
        return try discharged(of: owner)
    }

    /// Counts what the last statement deleted off the owner's number of tasks.
    private func discharged(of owner: Owner) throws(SQLiteError) -> Int {
        let count = connection.changes
        if count > 0 { try giveBack.run(owner.identifier, Int64(count)) }
        return count
    }
}
