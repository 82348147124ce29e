import SQLite
import StoreEngine
import Tasks

/// The writer's statements, compiled once; only its thread uses them.
struct WriteStatements: ~Copyable {
    let begin: Statement
    let commit: Statement
    private let counts: Statement
    private let count: Statement
    private let insertOwner: Statement
    private let subtract: Statement
    private let insert: Statement
    private let find: Statement
    private let update: Statement
    private let delete: Statement
    private let deleteText: Statement
    private let deleteCompleted: Statement
    let findKey: Statement
    let putKey: Statement
    let trimKeys: Statement
    let pruneKeys: Statement
    /// The memory of the answers to lists of changes.
    let answers: AnswerMemory
    let connection: Connection

    /// Compiles the statements, and takes the connection over.
    static func compiled(
        on connection: consuming Connection, answers: AnswerMemory
    ) throws(SQLiteError) -> WriteStatements {
        WriteStatements(
            begin: try connection.prepare("BEGIN IMMEDIATE"), commit: try connection.prepare("COMMIT"),
            counts: try connection.prepare("SELECT next_id, tasks FROM owners WHERE owner = ?1"),
            count: try connection.prepare(
                "UPDATE owners SET next_id = next_id + 1, tasks = tasks + 1 WHERE owner = ?1"),
            insertOwner: try connection.prepare("INSERT INTO owners(owner, next_id, tasks) VALUES (?1, 2, 1)"),
            subtract: try connection.prepare("UPDATE owners SET tasks = tasks - ?2 WHERE owner = ?1"),
            insert: try connection.prepare(insert), find: try connection.prepare(TaskRow.find),
            update: try connection.prepare(update),
            delete: try connection.prepare("DELETE FROM tasks WHERE owner = ?1 AND id = ?2"),
            // Scans one owner's tasks, which are adjacent in the table. An index of texts would cost every addition.
            deleteText: try connection.prepare(delete(where: "text = ?2")),
            deleteCompleted: try connection.prepare(delete(where: "completed")),
            findKey: try connection.prepare(findKeySQL), putKey: try connection.prepare(putKeySQL),
            trimKeys: try connection.prepare(trimKeysSQL), pruneKeys: try connection.prepare(pruneKeysSQL),
            answers: answers, connection: connection)
    }

    private static let insert =
        "INSERT INTO tasks(\(TaskItem.columns.names)) VALUES (\(TaskRow.parameters(TaskItem.columns.count)))"
    private static let update = """
        UPDATE tasks SET (text, completed, modified, revision, \(TaskDetail.columns))
            = (\(TaskRow.parameters(4 + TaskDetail.allCases.count)))
        WHERE owner = ? AND id = ?
        """
    /// The most tasks that one statement removes by their text, or because they are done.
    static let mostRemoved = Job.mostWeight

    private static func delete(where condition: String) -> String {
        """
        DELETE FROM tasks WHERE owner = ?1 AND id IN (
            SELECT id FROM tasks WHERE owner = ?1 AND \(condition) LIMIT \(mostRemoved))
        """
    }

    /// The next id of an owner, whose number of tasks grows by one; nil if the owner has `limit` tasks already.
    func allocateID(of owner: Owner, limit: Int) throws(SQLiteError) -> Int64? {
        guard limit > 0 else { return nil }
        // Three statements, because a single one that does all (`ON CONFLICT … RETURNING`) takes three times as long.
        guard let (next, tasks) = try counts(of: owner) else {
            try insertOwner.run(owner.identifier)
            return 1
        }
        guard tasks < limit else { return nil }
        guard next.isTaskNumber else { throw SQLiteError(ForeignValue.lastID) }
        try count.run(owner.identifier)
        return next
    }

    private func counts(of owner: Owner) throws(SQLiteError) -> (next: Int64, tasks: Int64)? {
        defer { counts.reset() }
        try counts.bind(owner.identifier)
        return try counts.step() ? (counts.integer(0), counts.integer(1)) : nil
    }

    func insert(_ item: TaskItem) throws(SQLiteError) {
        try insert.run(
            item.owner.identifier, item.id, item.text.value, item.completed, item.created, item.modified, item.revision,
            item.details)
    }

    func find(_ id: Int64, of owner: Owner) throws(SQLiteError) -> TaskItem? {
        try TaskRow.find(id, of: owner, with: find)
    }

    func update(_ item: TaskItem) throws(SQLiteError) {
        try update.run(
            item.text.value, item.completed, item.modified, item.revision, item.details, item.owner.identifier, item.id)
    }

    func delete(_ id: Int64, of owner: Owner) throws(SQLiteError) -> Int {
        try delete.run(owner.identifier, id)
        return try subtractDeleted(of: owner)
    }

    func delete(_ selection: RemoveTasks.Selection, of owner: Owner) throws(SQLiteError) -> Int {
        switch selection {
        case .withText(let text): try deleteText.run(owner.identifier, text.value)
        case .completed: try deleteCompleted.run(owner.identifier)
        }
        return try subtractDeleted(of: owner)
    }

    /// Subtracts the number of tasks that the last statement deleted from the owner's number; returns that number.
    private func subtractDeleted(of owner: Owner) throws(SQLiteError) -> Int {
        let count = connection.changes
        if count > 0 { try subtract.run(owner.identifier, Int64(count)) }
        return count
    }
}
