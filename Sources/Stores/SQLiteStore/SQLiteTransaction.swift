import JSON
import SQLite
import Tasks

/// The writer's transaction with its statements, compiled once; only the writer's thread uses them.
struct SQLiteTransaction: ~Copyable, OwnerTransaction {
    let answers: AnswerMemory
    var change = OwnerChange(of: Owner(""))
    /// The row of the owner, once it was read.
    private var known: OwnerRow??
    let begin: SQLiteStatement
    let commit: SQLiteStatement
    private let findOwner: SQLiteStatement
    private let insertOwner: SQLiteStatement
    private let updateOwner: SQLiteStatement
    private let find: SQLiteStatement
    private let findRevision: SQLiteStatement
    private let findText: SQLiteStatement
    private let findCompleted: SQLiteStatement
    private let insert: SQLiteStatement
    private let update: SQLiteStatement
    private let delete: SQLiteStatement
    let findKey: SQLiteStatement
    let putKey: SQLiteStatement
    let trimKeys: SQLiteStatement
    let pruneKeys: SQLiteStatement
    let connection: Connection

    /// Compiles the statements, and takes the connection over.
    static func compiled(
        on connection: consuming Connection, answers: AnswerMemory
    ) throws(SQLiteError) -> SQLiteTransaction {
        SQLiteTransaction(
            answers: answers, begin: try connection.prepare("BEGIN IMMEDIATE"),
            commit: try connection.prepare("COMMIT"),
            findOwner: try connection.prepare("SELECT next_id, tasks FROM owners WHERE owner = ?1"),
            insertOwner: try connection.prepare("INSERT INTO owners(owner, next_id, tasks) VALUES (?1, ?2, ?3)"),
            updateOwner: try connection.prepare("UPDATE owners SET next_id = ?2, tasks = ?3 WHERE owner = ?1"),
            find: try connection.prepare(TaskRow.find),
            findRevision: try connection.prepare("SELECT revision FROM tasks WHERE owner = ?1 AND id = ?2"),
            // Scans one owner's tasks, which are adjacent in the table. An index of texts would cost every addition.
            findText: try connection.prepare(findIDs(where: "text = ?2")),
            findCompleted: try connection.prepare(findIDs(where: "completed")),
            insert: try connection.prepare(insert), update: try connection.prepare(update),
            delete: try connection.prepare("DELETE FROM tasks WHERE owner = ?1 AND id = ?2"),
            findKey: try connection.prepare(findKeySQL), putKey: try connection.prepare(putKeySQL),
            trimKeys: try connection.prepare(trimKeysSQL), pruneKeys: try connection.prepare(pruneKeysSQL),
            connection: connection)
    }

    private static let insert =
        "INSERT INTO tasks(\(TaskItem.columns.names)) VALUES (\(TaskRow.parameters(TaskItem.columns.count)))"
    private static let update = """
        UPDATE tasks SET (text, completed, modified, revision, \(TaskDetail.columns))
            = (\(TaskRow.parameters(4 + TaskDetail.allCases.count)))
        WHERE owner = ? AND id = ?
        """

    private static func findIDs(where condition: String) -> String {
        "SELECT id FROM tasks WHERE owner = ?1 AND \(condition) LIMIT \(RemoveTasks.most)"
    }

    /// Runs a command of an owner; returns the outcome, and what the command has changed.
    mutating func run<Command: TaskCommand>(
        _ command: Command
    ) throws(SQLiteError) -> (outcome: Command.Outcome, change: OwnerChange) {
        change = OwnerChange(of: command.owner)
        known = nil
        return (try command.run(on: &self), change)
    }

    private var owner: String { change.owner.identifier }

    // MARK: What a command reads

    mutating func row() throws(SQLiteError) -> OwnerRow? {
        if let known { return known }
        defer { findOwner.reset() }
        try findOwner.bind(owner)
        let row = try findOwner.step() ? OwnerRow(next: findOwner.integer(0), tasks: findOwner.integer(1)) : nil
        known = .some(row)
        return row
    }

    func task(_ id: Int64) throws(SQLiteError) -> TaskItem? {
        try TaskRow.find(id, of: change.owner, with: find)
    }

    func revision(of id: Int64) throws(SQLiteError) -> Int64? {
        defer { findRevision.reset() }
        try findRevision.bind(owner, id)
        return try findRevision.step() ? findRevision.integer(0) : nil
    }

    func ids(of selection: RemoveTasks.Selection) throws(SQLiteError) -> [Int64] {
        switch selection {
        case .withText(let text):
            defer { findText.reset() }
            try findText.bind(owner, text.value)
            return try Self.ids(in: findText)
        case .completed:
            defer { findCompleted.reset() }
            try findCompleted.bind(owner)
            return try Self.ids(in: findCompleted)
        }
    }

    private static func ids(in rows: borrowing SQLiteStatement) throws(SQLiteError) -> [Int64] {
        var ids: [Int64] = []
        while try rows.step() { ids.append(rows.integer(0)) }
        return ids
    }

    // MARK: What a command writes

    mutating func put(_ row: OwnerRow) throws(SQLiteError) {
        // A single statement that does both (`ON CONFLICT`) takes three times as long.
        if try self.row() == nil {
            try insertOwner.run(owner, row.next, row.tasks)
        } else {
            try updateOwner.run(owner, row.next, row.tasks)
        }
        known = .some(row)
    }

    func insert(_ item: TaskItem) throws(SQLiteError) {
        try insert.run(
            item.owner.identifier, item.id, item.text.value, item.completed, item.created, item.modified, item.revision,
            item.details)
    }

    func update(_ old: TaskItem, to new: TaskItem) throws(SQLiteError) {
        try update.run(new.text.value, new.completed, new.modified, new.revision, new.details, owner, new.id)
    }

    func delete(_ ids: [Int64]) throws(SQLiteError) {
        for id in ids { try delete.run(owner, id) }
    }

    /// Adds a task of the greatest length for no owner, and removes it, so that no addition needs more room.
    func probe() throws(SQLiteError) {
        var details = TaskDetails()
        for detail in TaskDetail.allCases {
            details[detail] = detail.kind.longestText.map { .string(String(repeating: "x", count: $0)) }
        }
        guard let text = try? TaskText(String(repeating: "x", count: TaskText.longest)) else { return }
        // No token can have this owner.
        try insert(TaskItem(id: 1, owner: Owner(""), text: text, created: 0, modified: 0, details: details))
        try delete.run("", 1)
    }
}
