import Basics
package import PostgreSQL
import Tasks

/// Every statement of the store.
///
/// A statement about tasks names one owner (`$1`), so that it concerns one partition or shard.
///
/// Avoided, for the sake of foreign partitions, Citus, CockroachDB and YugabyteDB: sequences, triggers, functions of the
/// server's own, `ON CONFLICT DO UPDATE`, advisory locks, and the state of a session.
package enum TaskStatement: String, CaseIterable, Sendable {
    case page, longPage, find
    case add, forgetAttempts, makeOwner, lockOwner, addOnce
    case lockTask, change, lockTasks, changeAll, remove, removeText, removeCompleted
    case probe
    case begin, guarantee, commit, rollBack, prune

    /// Columns of tasks are in the order of ``TaskColumns``.
    package var sql: String {
        switch self {
        case .page: Self.pageSQL
        case .longPage: Self.longPageSQL
        case .find: "SELECT \(TaskColumns.all) FROM tasks WHERE owner = $1 AND id = $2"
        case .add: Self.addSQL
        case .forgetAttempts: Self.forgetAttemptsSQL
        case .makeOwner: "INSERT INTO owners(owner, next_id, tasks) VALUES ($1, 1, 0) ON CONFLICT DO NOTHING"
        case .lockOwner: "SELECT next_id FROM owners WHERE owner = $1 FOR UPDATE"
        case .addOnce: Self.addOnceSQL
        case .lockTask: "SELECT \(TaskColumns.all) FROM tasks WHERE owner = $1 AND id = $2 FOR UPDATE"
        case .change: Self.changeSQL
        case .lockTasks: "SELECT id, revision FROM tasks WHERE owner = $1 AND id = ANY ($2) ORDER BY id FOR UPDATE"
        case .changeAll: Self.changeAllSQL
        case .remove: Self.removeSQL("id = $2 AND ($3 OR revision = ANY ($4))")
        case .removeText: Self.removeSQL("text = $2")
        case .removeCompleted: Self.removeSQL("completed")
        case .probe: Self.probeSQL
        // Not READ WRITE, because an operator who sets default_transaction_read_only before a disk is full wants no writes.
        case .begin: "BEGIN ISOLATION LEVEL READ COMMITTED"
        case .guarantee: Self.guaranteeSQL
        case .commit: "COMMIT"
        case .rollBack: "ROLLBACK"
        case .prune: Self.pruneSQL
        }
    }

    /// Removes before an addition with the key $2: the key itself, if it was used before the time $3, and the keys of tasks
    /// that are not among the owner's newest.
    private static let forgetAttemptsSQL = """
        DELETE FROM attempts WHERE owner = $1 AND (key = $2 AND time <= $3
            OR id < (SELECT next_id FROM owners WHERE owner = $1) - \(IdempotencyKey.remembered))
        """

    private static let pageSQL = """
        SELECT \(TaskColumns.allWithShortDetails) FROM tasks
        WHERE owner = $1 AND id >= $2 AND ($3 IS NULL OR completed = $3) ORDER BY id LIMIT $4
        """

    /// The most rows of a result that libpq may hold at once: four megabytes and a half at most.
    static let firstRows = 1001

    /// The bytes that a task takes in an answer at least, without its texts.
    static let leastRendered = 150

    /// As ``pageSQL``, with long details; the rows end with the first at which $5 bytes are passed.
    ///
    /// The measure of a row is never more than the bytes of the rendered task.
    private static let longPageSQL = """
        SELECT \(TaskColumns.all) FROM (
            SELECT \(TaskColumns.all), sum(\(TaskColumns.textBytes) + \(leastRendered))
                OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - (\(TaskColumns.textBytes)) AS before
            FROM (
                SELECT \(TaskColumns.all) FROM tasks
                WHERE owner = $1 AND id >= $2 AND ($3 IS NULL OR completed = $3) ORDER BY id LIMIT $4
            ) AS found
        ) AS measured WHERE before <= $5 ORDER BY id
        """

    /// Adds $2 tasks at once, if there are not more than $3 then; makes the owner's row if there is none.
    ///
    /// The answer is the id of the first task, or one of ``Refusal``. An answer without a row means that another server made
    /// the owner's row at the same moment, so that the statement must be sent again.
    private static let addSQL = """
        WITH known AS (
            SELECT CASE WHEN \(hasIDs) THEN \(Refusal.full)::bigint ELSE \(Refusal.noID)::bigint END AS id
            FROM owners WHERE owner = $1
        ), taken AS (
            UPDATE owners SET next_id = next_id + $2, tasks = tasks + $2
            WHERE owner = $1 AND tasks <= $3 - $2 AND \(hasIDs)
            RETURNING next_id - $2 AS id
        ), made AS (
            INSERT INTO owners(owner, next_id, tasks) SELECT $1, 1 + $2, $2
            WHERE $2 <= $3 AND NOT EXISTS (SELECT FROM taken) AND NOT EXISTS (SELECT FROM known)
            ON CONFLICT DO NOTHING RETURNING 1::bigint AS id
        ), first AS (SELECT id FROM taken UNION ALL SELECT id FROM made), added AS (
            INSERT INTO tasks(owner, \(TaskColumns.all))
            SELECT $1, first.id + line.number - 1, line.text, line.completed, line.time, line.time, 1,
                \(TaskDetail.list { "line.\($0.name)" })
            FROM first, unnest($4, $5, $6, \(TaskDetail.parameters(from: 7))) WITH ORDINALITY
                AS line(text, completed, time, \(TaskDetail.columns), number)
        )
        SELECT id FROM first
        UNION ALL SELECT id FROM known WHERE NOT EXISTS (SELECT FROM first)
        UNION ALL SELECT \(Refusal.full) WHERE $2 > $3 AND NOT EXISTS (SELECT FROM known)
        """

    /// The numbers that ``addSQL`` answers in place of an id.
    private enum Refusal {
        /// The owner would have too many tasks.
        static let full: Int64 = 0
        /// The next id is not one that a server gives.
        static let noID: Int64 = -1
    }

    /// Whether $2 ids can be given.
    private static let hasIDs = "next_id BETWEEN 1 AND \(Int64.greatestTaskNumber) + 1 - $2"

    /// Adds one task under an idempotency key.
    ///
    /// A statement before has locked the owner's row, so the rows that this one sees stay until the commit. The first column
    /// says whether the task is new.
    private static let addOnceSQL = """
        WITH earlier AS (
            SELECT \(attemptColumns) FROM attempts WHERE owner = $1 AND key = $2
        ), taken AS (
            UPDATE owners SET next_id = next_id + 1, tasks = tasks + 1
            WHERE owner = $1 AND tasks < $3 AND next_id BETWEEN 1 AND \(Int64.greatestTaskNumber)
                AND NOT EXISTS (SELECT FROM earlier)
            RETURNING next_id - 1 AS id
        ), added AS (
            INSERT INTO tasks(owner, \(TaskColumns.all))
            SELECT $1, id, $5, $6, $7, $7, 1, \(TaskDetail.parameters(from: 8)) FROM taken
        ), remembered AS (
            INSERT INTO attempts(owner, \(attemptColumns))
            SELECT $1, $2, $4, $7, id, $5, $6, \(TaskDetail.parameters(from: 8)) FROM taken
        )
        SELECT false, \(attemptColumns) FROM earlier
        UNION ALL SELECT true, $2, $4, $7, id, $5, $6, \(TaskDetail.parameters(from: 8)) FROM taken
        """

    private static let attemptColumns = IdempotencyRecord.columns.dropFirst().names

    /// The details are changed as `TaskDetail.assignments` says, by the parameters from $8.
    private static let changeSQL = """
        UPDATE tasks SET text = coalesce($3, text), completed = coalesce($4, completed), modified = $5,
            revision = \(nextRevision), \(TaskDetail.assignments { "$\(8 + $0.rawValue)" })
        WHERE owner = $1 AND id = $2 AND ($6 OR revision = ANY ($7)) AND \(isOurs)
            AND (text <> coalesce($3, text) OR completed <> coalesce($4, completed)
                OR \(TaskDetail.differ { "$\(8 + $0.rawValue)" }))
        RETURNING \(TaskColumns.all)
        """

    /// See ``Swift/Int64/nextRevision``.
    private static let nextRevision = "revision % \(Int64.greatestTaskNumber) + 1"
    /// A row that another program has written is not changed.
    private static let isOurs = "revision BETWEEN 1 AND \(Int64.greatestTaskNumber)"

    /// Changes the tasks $3 at the time $2, if all of them exist and have the revisions $4 (NULL: any).
    ///
    /// The arrays from $5 have the values of ``changeSQL``, with its marks. The answer has a row for each task, also where
    /// nothing differed, and no row if a condition was not met. The rows have no texts if they would take more bytes than the
    /// last parameter says, by the measure of ``longPageSQL``, because libpq would hold all of them at once.
    private static let changeAllSQL = """
        WITH line AS (
            SELECT * FROM unnest($3, $4, $5, $6, \(TaskDetail.parameters(from: 7)))
                AS line(line_id, expected, new_text, new_completed, \(TaskDetail.list { "new_\($0.name)" }))
        ), found AS (
            SELECT count(*) AS number FROM tasks JOIN line ON id = line_id
            WHERE owner = $1 AND (expected IS NULL OR expected = revision) AND \(isOurs)
        ), made AS (
            UPDATE tasks SET text = coalesce(new_text, text), completed = coalesce(new_completed, completed),
                modified = $2, revision = \(nextRevision), \(TaskDetail.assignments { "new_\($0.name)" })
            FROM line, found
            WHERE owner = $1 AND id = line_id AND found.number = cardinality($3) AND \(lineDiffers)
            RETURNING \(TaskColumns.all)
        )
        SELECT \(TaskColumns.all(withTextsIf: "size <= $\(7 + TaskDetail.allCases.count)")) FROM (
            SELECT \(TaskColumns.all), sum(\(TaskColumns.textBytes) + \(leastRendered)) OVER () AS size FROM (
                SELECT \(TaskColumns.all) FROM made
                UNION ALL SELECT \(TaskColumns.all) FROM tasks JOIN line ON id = line_id, found
                WHERE owner = $1 AND found.number = cardinality($3) AND NOT \(lineDiffers)
            ) AS changed
        ) AS measured
        """

    private static let lineDiffers = """
        (text <> coalesce(new_text, text) OR completed <> coalesce(new_completed, completed)
            OR \(TaskDetail.differ { "new_\($0.name)" }))
        """

    /// Adds a task of as many bytes as a row itself can hold; it is removed in the same transaction.
    private static let probeSQL = """
        INSERT INTO tasks(owner, id, text, completed, created, modified, revision)
        SELECT $1, \(probeID), repeat('x', 1900), false, 0, 0, 1
        """

    /// The id of the probe's task, which no other task has.
    static let probeID: Int64 = 0

    /// Removes tasks, subtracts them from the owner's number of tasks, and answers how many they were.
    private static func removeSQL(_ condition: String) -> String {
        """
        WITH gone AS (DELETE FROM tasks WHERE owner = $1 AND \(condition) RETURNING id),
        counted AS (SELECT count(*) AS number FROM gone),
        less AS (
            UPDATE owners SET tasks = tasks - counted.number FROM counted WHERE owner = $1 AND counted.number > 0
        )
        SELECT number FROM counted
        """
    }

    /// What the rows of a statement in a transaction say.
    ///
    /// The rows of a read are decoded by its ``PostgreSQLRead``.
    func answer(_ rows: borrowing Rows, of owner: Owner) throws(ForeignValue) -> Answer {
        switch self {
        case .add: return try Self.addition(answeredBy: rows.integer(0, 0))
        case .lockOwner: return .nextID(rows.integer(0, 0))
        case .remove, .removeText, .removeCompleted: return .count(Int(rows.integer(0, 0)))
        case .lockTask, .change: return .task(try TaskColumns.item(in: rows, 0, of: owner))
        case .lockTasks: return .revisions(try Self.revisions(rows))
        case .changeAll:
            guard !TaskColumns.lacksText(rows, 0) else { return .count(rows.count) }
            return .tasks(try Self.tasks(rows, of: owner))
        case .addOnce:
            let record = try IdempotencyRecord(of: owner) { column in
                rows.value(of: IdempotencyRecord.columns[column + 1], 0, column + 1)
            }
            return .attempt(isNew: rows.boolean(0, 0), record)
        case .page, .longPage, .find, .forgetAttempts, .makeOwner, .probe: return .nothing
        case .begin, .guarantee, .commit, .rollBack, .prune: return .nothing
        }
    }

    private static func addition(answeredBy number: Int64) throws(ForeignValue) -> Answer {
        switch number {
        case Refusal.noID: throw .lastID
        case Refusal.full: .full
        default: .firstID(number)
        }
    }

    private static func revisions(_ rows: borrowing Rows) throws(ForeignValue) -> [Int64: Int64] {
        var revisions: [Int64: Int64] = [:]
        for row in 0..<rows.count {
            let (id, revision) = (rows.integer(row, 0), rows.integer(row, 1))
            guard id.isTaskNumber, revision.isTaskNumber else { throw .number }
            revisions[id] = revision
        }
        return revisions
    }

    private static func tasks(_ rows: borrowing Rows, of owner: Owner) throws(ForeignValue) -> [TaskItem] {
        var tasks: [TaskItem] = []
        tasks.reserveCapacity(rows.count)
        for row in 0..<rows.count { tasks.append(try TaskColumns.item(in: rows, row, of: owner)) }
        return tasks
    }

    /// A value of the type of each parameter.
    package var types: [Parameter] {
        let (number, text, truth) = (Parameter.integer(nil), Parameter.text(nil), Parameter.boolean(nil))
        let (details, arrays) = (TaskDetails().parameters, [TaskDetails]().parameters)
        return switch self {
        case .makeOwner, .lockOwner, .removeCompleted, .probe: [text]
        case .page: [text, number, truth, number]
        case .longPage: [text, number, truth, number, number]
        case .find, .lockTask: [text, number]
        case .remove: [text, number, truth, .integers([])]
        case .forgetAttempts: [text, text, number]
        case .add:
            [text, number, number, .texts([]), .booleans([]), .integers([])] + arrays
        case .addOnce: [text, text, number, number, text, truth, number] + details
        case .change: [text, number, text, truth, number, truth, .integers([])] + details
        case .lockTasks: [text, .integers([])]
        case .changeAll:
            [text, number, .integers([]), .integers([]), .texts([]), .booleans([])]
                + arrays + [number]
        case .removeText: [text, text]
        case .guarantee: [text]
        case .prune: [number, number]
        case .begin, .commit, .rollBack: []
        }
    }

    var preparedName: String { Self.preparedNames[self] ?? rawValue }

    /// Each name changes with the SQL, so that one name never means two statements in a pool of sessions that another
    /// version of this program shares.
    private static let preparedNames = Dictionary(
        uniqueKeysWithValues: allCases.map {
            ($0, "task_\($0.rawValue)_\(String(FNV1a(of: $0.sql).value, radix: 36))")
        })
}
