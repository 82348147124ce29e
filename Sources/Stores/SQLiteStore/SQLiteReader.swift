import Basics
import SQLite
import StoreEngine
import Tasks

/// The session of a thread that reads.
final class SQLiteReader: StoreSession {
    private let statements: ReadStatements
    private let health: SQLiteHealth

    init(_ statements: consuming ReadStatements, _ health: SQLiteHealth) {
        self.statements = statements
        self.health = health
    }

    func maintain(at now: UInt64) -> UInt64 { .max }

    func run(_ jobs: [Job]) -> BatchResult {
        BatchResult(jobs.compactMap { job in (job.work as? SQLiteRead).map { (job, verdict(on: $0)) } })
    }

    private func verdict(on read: SQLiteRead) -> Verdict {
        if let error = health.refusal { return .refuse(error) }
        do throws(SQLiteError) {
            return .answer(try read.run(statements))
        } catch {
            return .refuse(health.record(error))
        }
    }
}

/// A read of this store, which returns the closure that answers its caller.
final class SQLiteRead: JobWork {
    let run: @Sendable (borrowing ReadStatements) throws(SQLiteError) -> @Sendable () -> Void

    init(_ run: @escaping @Sendable (borrowing ReadStatements) throws(SQLiteError) -> @Sendable () -> Void) {
        self.run = run
    }
}

/// A reader's statements, compiled once; only its thread uses them.
struct ReadStatements: ~Copyable {
    private let list: SQLiteStatement
    private let find: SQLiteStatement
    private let counts: SQLiteStatement
    private let changes: SQLiteStatement
    let connection: Connection
    private let answers: AnswerMemory

    /// Takes the connection over, and makes it read-only.
    static func compiled(
        on connection: consuming Connection, answers: AnswerMemory
    ) throws(SQLiteError) -> ReadStatements {
        try connection.execute("PRAGMA query_only = ON")
        return ReadStatements(
            list: try connection.prepare(
                """
                SELECT \(TaskRow.columns) FROM tasks
                WHERE owner = ?1 AND id > ?2 AND (?3 IS NULL OR completed = ?3) ORDER BY id LIMIT ?4
                """),
            find: try connection.prepare(TaskRow.find),
            // The statement always gives a row, so that it keeps its snapshot of the database until it is reset.
            counts: try connection.prepare(
                "SELECT origin, change, forgotten, tasks FROM (SELECT 1) LEFT JOIN owners ON owner = ?1"),
            // Only numbers are sorted, because whole rows would take much memory meanwhile.
            changes: try connection.prepare(
                """
                SELECT change, id, 0 FROM tasks WHERE owner = ?1 AND change > ?2
                UNION ALL SELECT change, id, 1 FROM removed_tasks WHERE owner = ?1 AND change > ?2
                ORDER BY 1 LIMIT ?3
                """), connection: connection, answers: answers)
    }

    func find(_ query: FindTask) throws(SQLiteError) -> TaskItem? { try item(query.id, of: query.owner) }

    private func item(_ id: Int64, of owner: Owner) throws(SQLiteError) -> TaskItem? {
        let found = try TaskRow.find(id, of: owner, with: find)
        return try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in try found?.get() }
    }

    /// The task of the row of the list at which its statement is.
    private func listed(of owner: Owner) throws(SQLiteError) -> TaskItem {
        do throws(ForeignValue) { return try TaskRow.item(in: list, of: owner) } catch { throw SQLiteError(error) }
    }

    /// Reads the rows of a list one by one, until the page is full.
    ///
    /// A whole list must have as many tasks as the owner's row records, because a page of the file that has lost its
    /// rows is no error to SQLite. A list that is cut is not compared.
    func list(_ query: ListTasks) throws(SQLiteError) -> Result<TaskList, StoreError> {
        let (owner, selection) = (query.owner, query.selection)
        defer {
            list.reset()
            counts.reset()
        }
        var expected: Int64?
        if selection == .all {
            // The list is read from the same snapshot, because the statement is not reset before.
            _ = try counts(of: owner)
            expected = counts.integer(3)
        }
        var page = TaskPage(of: owner, query.names, atMost: selection.limit, in: answers, at: query.place)
        // One task more than wanted shows whether others follow.
        let limit = selection.limit.map { Int64(min(max($0, 0), Int(Int32.max))) + 1 } ?? -1
        try list.bind(owner.identifier, selection.after ?? 0, selection.completed, limit)
        while try list.step() {
            let item = try listed(of: owner)
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

    /// Reads row by row from one snapshot, which the statement of the owner's row keeps until it is reset.
    func changes(_ query: ListChanges) throws(SQLiteError) -> Result<ChangesOutcome, StoreError> {
        let owner = query.owner
        defer {
            list.reset()
            changes.reset()
            counts.reset()
        }
        guard var rendering = ChangesRendering(query, at: try counts(of: owner), in: answers) else {
            return .success(.forgotten)
        }
        guard !rendering.isUpToDate else { return rendering.outcome() }
        let limit = Int64(query.limit) + 1
        switch query.rows {
        case .tasks(let id):
            try list.bind(owner.identifier, id, Bool?.none, limit)
            while try list.step() {
                let item = try listed(of: owner)
                guard rendering.append(item, at: item.id) else { break }
            }
        case .changes(let number):
            try changes.bind(owner.identifier, number, limit)
            while try changes.step() {
                let (number, id, isRemoved) = (changes.integer(0), changes.integer(1), changes.integer(2) != 0)
                guard isRemoved ? rendering.append(removed: id, at: number) : try append(id, number, &rendering, owner)
                else { break }
            }
        }
        return rendering.outcome()
    }

    private func append(
        _ id: Int64, _ number: Int64, _ rendering: inout ChangesRendering, _ owner: Owner
    ) throws(SQLiteError) -> Bool {
        guard let item = try item(id, of: owner) else { return true }
        return rendering.append(item, at: number)
    }

    private func counts(of owner: Owner) throws(SQLiteError) -> ChangeCounts? {
        try counts.bind(owner.identifier)
        guard try counts.step(), !counts.isNull(0) else { return nil }
        return ChangeCounts(origin: counts.integer(0), last: counts.integer(1), forgotten: counts.integer(2))
    }

    func changeNumbers(of owners: [Owner]) throws(SQLiteError) -> [Owner: Int64] {
        var numbers: [Owner: Int64] = [:]
        for owner in owners {
            defer { counts.reset() }
            numbers[owner] = try counts(of: owner)?.last
        }
        return numbers
    }
}
