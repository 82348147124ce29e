import SQLite
import Tasks

/// The statements of a reader, compiled once; only its thread holds them.
struct ReadTables: ~Copyable {
    private let list: Statement
    private let find: Statement
    private let count: Statement
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
            // Always a row, so that the statement keeps its state of the database until it is reset.
            count: try connection.prepare("SELECT coalesce((SELECT tasks FROM owners WHERE owner = ?1), 0)"),
            connection: connection, answers: answers)
    }

    func find(_ id: Int64, of owner: Owner) throws(SQLiteError) -> TaskItem? {
        defer { find.reset() }
        try find.bind(owner.identifier, id)
        return try find.step() ? TaskRow.item(in: find, of: owner) : nil
    }

    /// Reads row by row, and no further than the page goes; a failure is that there is no memory for the list.
    ///
    /// Everything of an owner must be as much as was added and not removed: a page of the file that lost its rows would else
    /// only make the list shorter. A list that is cut is not compared.
    func list(_ query: TaskQuery, of owner: Owner) throws(SQLiteError) -> Result<TaskList, StoreError> {
        defer {
            list.reset()
            count.reset()
        }
        let expected = query == .all ? try taskCount(of: owner) : nil
        var page = TaskPage(of: owner, atMost: query.limit, in: answers)
        // One more than wanted shows whether others follow.
        let limit = query.limit.map { Int64(min(max($0, 0), Int(Int32.max))) + 1 } ?? -1
        try list.bind(owner.identifier, query.after ?? 0, query.completed, limit)
        while try list.step() {
            let item = try TaskRow.item(in: list, of: owner)
            do throws(StoreError) {
                guard try page.append(item) else { return .success(page.list()) }
            } catch {
                return .failure(error)
            }
        }
        if let expected, page.count != expected {
            throw .corrupt("a list has \(page.count) tasks, and its owner's row counts \(expected)")
        }
        return .success(page.list())
    }

    /// How many tasks the owner's row counts, in the state of the database that the list is read from next.
    private func taskCount(of owner: Owner) throws(SQLiteError) -> Int64 {
        try count.bind(owner.identifier)
        return try count.step() ? count.integer(0) : 0
    }
}
