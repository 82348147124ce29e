import SQLite
import Tasks

/// The statements of a reader, compiled once; only its thread holds them.
struct ReadTables: ~Copyable {
    private let list: Statement
    private let find: Statement
    private let connection: Connection
    private let answers: AnswerMemory

    /// Takes the connection over, and forbids it to write.
    static func compiled(
        on connection: consuming Connection, answers: AnswerMemory
    ) throws(SQLiteError) -> ReadTables {
        try connection.execute("PRAGMA query_only = ON")
        return ReadTables(
            list: try connection.prepare(
                """
                SELECT \(TaskRow.columns) FROM tasks
                WHERE owner = ?1 AND id > ?2 AND (?3 IS NULL OR completed = ?3) ORDER BY id LIMIT ?4
                """),
            find: try connection.prepare("SELECT \(TaskRow.columns) FROM tasks WHERE owner = ?1 AND id = ?2"),
            connection: connection, answers: answers)
    }

    func find(_ id: Int64, of owner: Owner) throws(SQLiteError) -> TaskItem? {
        defer { find.reset() }
        try find.bind(owner.identifier, id)
        return try find.step() ? TaskRow.item(in: find, of: owner) : nil
    }

    /// Reads row by row, and no further than the page goes.
    func list(_ query: TaskQuery, of owner: Owner) throws(StoreError) -> TaskList {
        defer { list.reset() }
        var page = TaskPage(of: owner, atMost: query.limit, in: answers)
        do throws(SQLiteError) {
            // One more than wanted shows whether others follow.
            let limit = query.limit.map { Int64(min(max($0, 0), Int(Int32.max))) + 1 } ?? -1
            try list.bind(owner.identifier, query.after ?? 0, query.completed, limit)
        } catch {
            throw StoreError(error)
        }
        while let item = try nextItem(of: owner), try page.append(item) {}
        return page.list()
    }

    private func nextItem(of owner: Owner) throws(StoreError) -> TaskItem? {
        do throws(SQLiteError) {
            return try list.step() ? TaskRow.item(in: list, of: owner) : nil
        } catch {
            throw StoreError(error)
        }
    }
}
