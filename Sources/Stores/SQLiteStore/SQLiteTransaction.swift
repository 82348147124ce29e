import Basics
import JSON
import SQLite
import Tasks

/// The writer's transaction with its statements, compiled once; only the writer's thread uses them.
struct SQLiteTransaction: ~Copyable, OwnerTransaction {
    let answers: AnswerMemory
    var change = OwnerChange(of: Owner(""))
    /// The row of the owner, once it was read or put.
    private var known: OwnerRow??
    private var isRowStored = false
    private var isRowWritten = true
    /// Whether an owner was deleted whose texts the log may still have.
    var hasDeletedOwner = false
    let begin: SQLiteStatement
    let commit: SQLiteStatement
    private let findOwner: SQLiteStatement
    private let insertOwner: SQLiteStatement
    private let updateOwner: SQLiteStatement
    private let markOwner: SQLiteStatement
    private let renewOwner: SQLiteStatement
    private let pruneOwners: SQLiteStatement
    private let find: SQLiteStatement
    private let findRevision: SQLiteStatement
    private let select: SQLiteStatement
    private let selectBefore: SQLiteStatement
    private let insert: SQLiteStatement
    private let update: SQLiteStatement
    private let delete: SQLiteStatement
    private let keepRemoved: SQLiteStatement
    private let trimRemoved: SQLiteStatement
    private let findKey: SQLiteStatement
    private let putKey: SQLiteStatement
    private let trimKeys: SQLiteStatement
    private let limitKeys: SQLiteStatement
    private let pruneKeys: SQLiteStatement
    private let noteForgotten: SQLiteStatement
    private let forgetRemoved: SQLiteStatement
    let connection: Connection

    /// Compiles the statements, and takes the connection over.
    static func compiled(
        on connection: consuming Connection, answers: AnswerMemory
    ) throws(SQLiteError) -> SQLiteTransaction {
        SQLiteTransaction(
            answers: answers, begin: try connection.prepare("BEGIN IMMEDIATE"),
            commit: try connection.prepare("COMMIT"),
            findOwner: try connection.prepare(
                "SELECT next_id, tasks, change, deleted, first_id FROM owners WHERE owner = ?1"),
            insertOwner: try connection.prepare(
                "INSERT INTO owners(owner, next_id, tasks, change, origin) VALUES (?1, ?2, ?3, ?4, ?5)"),
            updateOwner: try connection.prepare(
                "UPDATE owners SET next_id = ?2, tasks = ?3, change = ?4 WHERE owner = ?1"),
            markOwner: try connection.prepare(
                "UPDATE owners SET deleted = ?2, first_id = ?3, origin = ?4 WHERE owner = ?1"),
            renewOwner: try connection.prepare("UPDATE owners SET origin = ?2 WHERE owner = ?1"),
            pruneOwners: try connection.prepare(pruneOwners),
            find: try connection.prepare(TaskRow.find),
            findRevision: try connection.prepare("SELECT revision FROM tasks WHERE owner = ?1 AND id = ?2"),
            // Scans one owner's tasks, which are adjacent in the table. An index of texts would cost every addition.
            select: try connection.prepare(select),
            selectBefore: try connection.prepare(
                "SELECT id FROM tasks WHERE owner = ?1 AND id < ?2 LIMIT \(RemoveTasks.most)"),
            insert: try connection.prepare(insert), update: try connection.prepare(update),
            delete: try connection.prepare("DELETE FROM tasks WHERE owner = ?1 AND id = ?2"),
            keepRemoved: try connection.prepare(
                "INSERT OR IGNORE INTO removed_tasks(owner, id, change, time) VALUES (?1, ?2, ?3, ?4)"),
            trimRemoved: try connection.prepare("DELETE FROM removed_tasks WHERE owner = ?1 AND change <= ?2"),
            findKey: try connection.prepare(findKey), putKey: try connection.prepare(putKey),
            trimKeys: try connection.prepare(trimKeys),
            limitKeys: try connection.prepare(limitKeys), pruneKeys: try connection.prepare(pruneKeys),
            noteForgotten: try connection.prepare(noteForgotten),
            forgetRemoved: try connection.prepare(forgetRemoved), connection: connection)
    }

    // The last parameter is the change number.
    private static let insert = """
        INSERT INTO tasks(\(TaskItem.columns.names), change)
        VALUES (\(TaskRow.parameters(1...TaskItem.columns.count + 1)))
        """
    private static let update = """
        UPDATE tasks SET (\(TaskItem.columns.dropFirst(2).names), change)
            = (\(TaskRow.parameters(3...TaskItem.columns.count + 1)))
        WHERE owner = ?1 AND id = ?2
        """

    /// Selects the tasks with a text, or, if the text is NULL, the completed tasks.
    private static let select = """
        SELECT id FROM tasks WHERE owner = ?1 AND (text = ?2 OR ?2 IS NULL AND completed) LIMIT \(RemoveTasks.most)
        """

    /// Runs a command of an owner; returns its outcome and its change.
    mutating func run<Command: TaskCommand>(
        _ command: Command
    ) throws(SQLiteError) -> (outcome: Result<Command.Outcome, StoreError>, change: OwnerChange) {
        change = OwnerChange(of: command.owner)
        // A command that failed may have left a row unwritten.
        (known, isRowWritten) = (nil, true)
        let outcome = try command.outcome(on: &self)
        try writeRow()
        return (outcome, change)
    }

    private var owner: String { change.owner.identifier }

    // MARK: Reads of a command

    mutating func row() throws(SQLiteError) -> OwnerRow? {
        if let known { return known }
        defer { findOwner.reset() }
        try findOwner.bind(owner)
        isRowStored = try findOwner.step()
        guard isRowStored else {
            known = .some(nil)
            return nil
        }
        var row = OwnerRow(next: findOwner.integer(0), tasks: findOwner.integer(1), change: findOwner.integer(2))
        if !findOwner.isNull(3) { (row.deleted, row.firstID) = (findOwner.integer(3), findOwner.integer(4)) }
        known = .some(row)
        return row
    }

    func stored(_ id: Int64) throws(SQLiteError) -> Result<TaskItem, ForeignValue>? {
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
            try select.bind(owner, text.value)
            return try Self.ids(in: select)
        case .completed:
            try select.bind(owner, String?.none)
            return try Self.ids(in: select)
        case .before(let id):
            try selectBefore.bind(owner, id)
            return try Self.ids(in: selectBefore)
        }
    }

    private static func ids(in statement: borrowing SQLiteStatement) throws(SQLiteError) -> [Int64] {
        defer { statement.reset() }
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.integer(0)) }
        return ids
    }

    // MARK: Writes of a command

    mutating func put(_ row: OwnerRow) {
        known = .some(row)
        isRowWritten = false
    }

    /// Writes the owner's row once for all changes of a command.
    private mutating func writeRow() throws(SQLiteError) {
        guard !isRowWritten, let row = known ?? nil else { return }
        isRowWritten = true
        // A single statement that updates or inserts (`ON CONFLICT`) takes three times as long.
        if isRowStored {
            try updateOwner.run(owner, row.next, row.tasks, row.change)
        } else {
            try insertOwner.run(owner, row.next, row.tasks, row.change, ChangePoint.newOrigin)
            isRowStored = true
        }
    }

    mutating func mark(_ row: OwnerRow) throws(SQLiteError) {
        put(row)
        try writeRow()
        try markOwner.run(owner, row.deleted, row.firstID, ChangePoint.newOrigin)
        hasDeletedOwner = true
    }

    mutating func renew(_ row: OwnerRow) throws(SQLiteError) {
        put(row)
        try writeRow()
        try renewOwner.run(owner, ChangePoint.newOrigin)
    }

    func insert(_ item: TaskItem, change: Int64) throws(SQLiteError) {
        try insert.run(row: item.row(change: change))
    }

    func update(_ old: TaskItem, to new: TaskItem, change: Int64) throws(SQLiteError) {
        try update.run(row: new.row(change: change))
    }

    func delete(_ tasks: [RemovedTask]) throws(SQLiteError) {
        for task in tasks {
            try delete.run(owner, task.id)
            try keepRemoved.run(owner, task.id, task.change, task.time)
        }
        let forgotten = (tasks.last?.change ?? 0) - RemovedTask.changes
        if forgotten > 0 { try trimRemoved.run(owner, forgotten) }
    }

    /// Adds a task of the greatest length for no owner, and removes it, so that no addition needs more room.
    func probe() throws(SQLiteError) {
        var details = TaskDetails()
        for detail in TaskDetail.allCases {
            details[detail] = detail.kind.longestText.map { .string(String(repeating: "x", count: $0)) }
        }
        guard let text = try? TaskText(String(repeating: "x", count: TaskText.longest)) else { return }
        // No token can have this owner.
        try insert(TaskItem(id: 1, owner: Owner(""), text: text, created: 0, modified: 0, details: details), change: 0)
        try delete.run("", 1)
    }

    // MARK: Idempotency keys

    private static let findKey =
        "SELECT \(IdempotencyRecord.columns.dropFirst().names) FROM attempts WHERE owner = ?1 AND key = ?2"
    private static let putKey = """
        INSERT OR REPLACE INTO attempts(\(IdempotencyRecord.columns.names))
        VALUES (\(TaskRow.parameters(1...IdempotencyRecord.columns.count)))
        """
    private static let pruneKeys = """
        DELETE FROM attempts WHERE (owner, key) IN
            (SELECT owner, key FROM attempts WHERE time <= ?1 ORDER BY time LIMIT ?2)
        """
    private static let trimKeys = "DELETE FROM attempts WHERE owner = ?1 AND id < ?2"
    private static let limitKeys = """
        DELETE FROM attempts WHERE owner = ?1 AND id <=
            CASE WHEN EXISTS (SELECT 1 FROM attempts WHERE owner = ?1 AND id < ?2) THEN (
                SELECT id FROM attempts WHERE owner = ?1 ORDER BY id DESC LIMIT 1 OFFSET \(IdempotencyKey.remembered)
            ) END
        """

    func record(of key: String) throws(SQLiteError) -> IdempotencyRecord? {
        defer { findKey.reset() }
        try findKey.bind(owner, key)
        guard try findKey.step() else { return nil }
        return try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try IdempotencyRecord(of: change.owner) {
                findKey.value(of: IdempotencyRecord.columns[$0 + 1], at: Int32($0))
            }
        }
    }

    func put(_ record: IdempotencyRecord) throws(SQLiteError) {
        try putKey.run(row: record.row)
    }

    func forgetRecords(ofTasksBefore id: Int64) throws(SQLiteError) {
        try trimKeys.run(owner, id)
    }

    func limitRecords(ifOfTasksBefore id: Int64) throws(SQLiteError) {
        try limitKeys.run(owner, id)
    }

    private static let pruneOwners = """
        DELETE FROM owners WHERE owner IN (
            SELECT owner FROM owners WHERE deleted <= ?1 AND tasks = 0 AND next_id = first_id LIMIT ?2)
        """

    /// Removes at most this many rows of owners who were deleted long ago, and have not come back.
    func pruneOwners(at time: Int64, atMost limit: Int64) throws(SQLiteError) {
        try pruneOwners.run(time - OwnerRow.markLifetime, limit)
    }

    /// Removes at most this many of the keys that are expired at this time; returns their number.
    func pruneKeys(at time: Int64, atMost limit: Int64) throws(SQLiteError) -> Int64 {
        try pruneKeys.run(time - IdempotencyKey.lifetime, limit)
        return Int64(connection.changes)
    }

    // MARK: Removed tasks

    private static let oldestRemoved =
        "(SELECT owner, change FROM removed_tasks WHERE time <= ?1 ORDER BY time, owner, change LIMIT ?2)"
    private static let noteForgotten = """
        UPDATE owners SET forgotten = max(forgotten, old.change)
        FROM (SELECT owner, max(change) AS change FROM \(oldestRemoved) GROUP BY owner) AS old
        WHERE owners.owner = old.owner
        """
    private static let forgetRemoved = "DELETE FROM removed_tasks WHERE (owner, change) IN \(oldestRemoved)"

    mutating func forgetRemovedTasks() throws(SQLiteError) { try trimRemoved.run(owner, Int64.max) }

    /// Forgets at most this many tasks that were removed until a time, and notes their last numbers; returns the count.
    mutating func forgetRemovedTasks(until time: Int64, atMost limit: Int64) throws(SQLiteError) -> Int64 {
        try begin.run()
        do throws(SQLiteError) {
            try noteForgotten.run(time, limit)
            try forgetRemoved.run(time, limit)
            let removed = Int64(connection.changes)
            try commit.run()
            return removed
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
