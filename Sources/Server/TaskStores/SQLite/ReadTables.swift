import SQLite
import Tasks

/// The statements of a reader, compiled once; only its thread holds them.
struct ReadTables: ~Copyable {
    private let list: Statement
    private let find: Statement
    private let count: Statement
    private let connection: Connection

    /// Takes the connection over, and forbids it to write.
    static func compiled(on connection: consuming Connection) throws(SQLiteError) -> ReadTables {
        try connection.execute("PRAGMA query_only = ON")
        return ReadTables(
            list: try connection.prepare(
                """
                SELECT \(TaskRow.columns) FROM tasks
                WHERE owner = ?1 AND id > ?2 AND (?3 IS NULL OR completed = ?3) ORDER BY id LIMIT ?4
                """),
            find: try connection.prepare("SELECT \(TaskRow.columns) FROM tasks WHERE owner = ?1 AND id = ?2"),
            // Always a row, so that the statement keeps its state of the database until it is reset.
            count: try connection.prepare("SELECT coalesce((SELECT tasks FROM owners WHERE owner = ?1), 0)"),
            connection: connection)
    }

    func find(_ id: Int64, of owner: Owner) throws(SQLiteError) -> TaskItem? {
        defer { find.reset() }
        try find.bind(owner.identifier, id)
        return try find.step() ? TaskRow.item(in: find, of: owner) : nil
    }

    func list(_ query: TaskQuery, of owner: Owner) throws(SQLiteError) -> TaskList {
        guard query != .all else { return TaskList(rendering: try all(of: owner)) }
        guard let limit = query.limit else {
            return TaskList(rendering: try items(query, of: owner, atMost: -1))
        }
        // One more than wanted shows whether others follow.
        let wanted = Int64(min(max(limit, 0), Int(Int32.max)))
        return TaskList(page: try items(query, of: owner, atMost: wanted + 1), limit: limit)
    }

    /// Everything of an owner, if it is as much as was added and not removed: a page of the file that lost its rows would
    /// else be no more than a shorter list.
    private func all(of owner: Owner) throws(SQLiteError) -> [TaskItem] {
        defer { count.reset() }
        try count.bind(owner.identifier)
        let expected = try count.step() ? count.integer(0) : 0
        let items = try items(.all, of: owner, atMost: -1)
        guard items.count == expected else {
            throw .corrupt("a list has \(items.count) tasks, and its owner's row counts \(expected)")
        }
        return items
    }

    private func items(_ query: TaskQuery, of owner: Owner, atMost limit: Int64) throws(SQLiteError) -> [TaskItem] {
        defer { list.reset() }
        try list.bind(owner.identifier, query.after ?? 0, query.completed, limit)
        var items: [TaskItem] = []
        while try list.step() { items.append(try TaskRow.item(in: list, of: owner)) }
        return items
    }
}
