import Basics
package import PostgreSQL
import Tasks

/// Every statement of the store.
///
/// A statement about tasks names one owner (`$1`), so that it concerns one partition or shard.
///
/// For the sake of Citus, CockroachDB and YugabyteDB, no statement uses sequences, triggers, functions of the server's
/// own, `ON CONFLICT DO UPDATE`, advisory locks, or the state of a session.
package enum TaskStatement: String, CaseIterable, Sendable {
    case page, listPoint, find, firstChanges, laterChanges, points
    case add, take, makeOwner, lockOwner, lockRevision, lockRevisions, lockTask, lockTasks, withText, completed, before
    case attempt
    case insert, change, update, remove, removeSeveral, putOwner, markOwner, renewOwner, forgetAttempt, forgetAttempts,
        limitAttempts, putAttempt
    case forgetRemoved, probe, removeProbe
    case begin, beginReads, transactionSettings, commit, rollBack
    case prune, pruneOwners, pruneDistributed, pruneDistributedOwners, oldestRemoved, pruneRemoved

    package var sql: String { definition.sql }

    /// A value of the type of each parameter.
    package var types: [Parameter] { definition.types }

    /// The SQL and the types of its parameters.
    ///
    /// Columns of tasks are in the order of ``TaskColumns``. One id has a statement of its own, because PostgreSQL
    /// plans a condition with `ANY` anew each time.
    private var definition: (sql: String, types: [Parameter]) {
        let (number, text, truth) = (Parameter.integer(nil), Parameter.text(nil), Parameter.boolean(nil))
        let (numbers, texts, truths) = (Parameter.integers([]), Parameter.texts([]), Parameter.booleans([]))
        return switch self {
        case .page: (Self.pageSQL, [text, number, truth, number])
        case .listPoint: ("SELECT origin, change, xmin FROM owners WHERE owner = $1", [text])
        case .firstChanges: (Self.firstChangesSQL, [text, number, number])
        case .laterChanges: (Self.laterChangesSQL, [text, number, number])
        case .points: ("SELECT owner, origin, change, xmin FROM owners WHERE owner = ANY ($1)", [texts])
        case .find: ("SELECT \(TaskColumns.all) FROM tasks WHERE owner = $1 AND id = $2", [text, number])
        case .add:
            (
                Self.addSQL,
                [text, number, number, number, number, texts, truths, numbers] + [TaskDetails]().parameters
            )
        case .take: (Self.takeSQL, [text, number, number, number])
        case .makeOwner: (Self.makeOwnerSQL, [text, number])
        case .lockOwner:
            ("SELECT next_id, tasks, change, deleted, first_id FROM owners WHERE owner = $1 FOR UPDATE", [text])
        case .lockRevision: (Self.lockSQL("id, revision", "id = $2"), [text, number])
        case .lockRevisions: (Self.lockSQL("id, revision", "id = ANY ($2)"), [text, numbers])
        case .lockTask: (Self.lockSQL(TaskColumns.all, "id = $2"), [text, number])
        case .lockTasks: (Self.lockSQL(TaskColumns.all, "id = ANY ($2)"), [text, numbers])
        case .withText: (Self.lockSQL("id", "text = $2 LIMIT \(RemoveTasks.most)"), [text, text])
        case .completed: (Self.lockSQL("id", "completed LIMIT \(RemoveTasks.most)"), [text])
        case .before: (Self.lockSQL("id", "id < $2 LIMIT \(RemoveTasks.most)"), [text, number])
        case .attempt: ("SELECT \(Self.attemptColumns) FROM attempts WHERE owner = $1 AND key = $2", [text, text])
        case .insert: Self.inserting(TaskItem.columns + [.integer("change")], into: "tasks")
        case .change:
            (
                Self.changeSQL,
                [text, number, text, truth, number, number, number, truth] + TaskDetails().parameters
            )
        case .update:
            (
                Self.updateSQL,
                [text, numbers, texts, truths, numbers, numbers, numbers, truths] + [TaskDetails]().parameters
            )
        case .remove:
            (
                Self.removeSQL("id = $5", kept: "VALUES ($1, $5, $6, $7)"),
                [text, number, number, number, number, number, number]
            )
        case .removeSeveral:
            (
                Self.removeSQL("id = ANY ($5)", kept: "SELECT $1, line.* FROM unnest($5, $6, $7) AS line"),
                [text, number, number, number, numbers, numbers, numbers]
            )
        case .putOwner: (Self.putOwnerSQL, [text, number, number, number])
        case .markOwner:
            (
                "UPDATE owners SET deleted = $2, first_id = $3, origin = $4 WHERE owner = $1",
                [text, number, number, number]
            )
        case .renewOwner: ("UPDATE owners SET origin = $2 WHERE owner = $1", [text, number])
        case .forgetRemoved: ("DELETE FROM removed_tasks WHERE owner = $1", [text])
        case .forgetAttempt: ("DELETE FROM attempts WHERE owner = $1 AND key = $2", [text, text])
        case .forgetAttempts: ("DELETE FROM attempts WHERE owner = $1 AND id < $2", [text, number])
        case .limitAttempts: (Self.limitAttemptsSQL, [text, number])
        case .putAttempt: Self.inserting(IdempotencyRecord.columns, into: "attempts")
        case .probe: (Self.probeSQL, [text])
        case .removeProbe: ("DELETE FROM tasks WHERE owner = $1 AND id = \(Self.probeID)", [text])
        // READ WRITE would override default_transaction_read_only, which an operator sets before a disk is full.
        case .begin: ("BEGIN ISOLATION LEVEL READ COMMITTED", [])
        case .beginReads: ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", [])
        case .transactionSettings: (Self.transactionSettingsSQL, [text])
        case .commit: ("COMMIT", [])
        case .rollBack: ("ROLLBACK", [])
        case .prune: (Self.pruneSQL, [number, number])
        case .pruneOwners: (Self.pruneOwnersSQL, [number, number])
        case .pruneDistributed: ("DELETE FROM attempts WHERE time <= $1", [number])
        case .pruneDistributedOwners: ("DELETE FROM owners WHERE \(Self.isGone)", [number])
        case .oldestRemoved: ("SELECT owner FROM removed_tasks WHERE time <= $1 ORDER BY time LIMIT 1", [number])
        case .pruneRemoved: (Self.pruneRemovedSQL, [text, number, number])
        }
    }

    /// The statement in a database without the column `xmin`, where a change number that is taken again is not noticed.
    var sqlWithoutWriter: String {
        switch self {
        case .listPoint: "SELECT origin, change, 0 FROM owners WHERE owner = $1"
        case .points: "SELECT owner, origin, change, 0 FROM owners WHERE owner = ANY ($1)"
        default: sql
        }
    }

    private static func lockSQL(_ columns: String, _ condition: String) -> String {
        "SELECT \(columns) FROM tasks WHERE owner = $1 AND \(condition) FOR UPDATE"
    }

    private static let pageSQL = """
        SELECT \(TaskColumns.all) FROM tasks
        WHERE owner = $1 AND id >= $2 AND ($3 IS NULL OR completed = $3) ORDER BY id LIMIT $4
        """

    /// The most rows that a read asks for at once, because libpq keeps a whole result in memory: 4 MB with the longest
    /// texts.
    static let piece = 256

    /// The owner's counts of changes beside each row of a page, all from one snapshot.
    ///
    /// The rows have a place, by which they are ordered, and the id of a removed task or the columns of a task.
    private static func changesSQL(_ rows: String) -> String {
        """
        SELECT counts.*, place, removed, \(TaskColumns.all)
        FROM (SELECT origin, change, forgotten FROM owners WHERE owner = $1) AS counts
        LEFT JOIN (\(rows) ORDER BY place LIMIT $3) AS found ON true ORDER BY place
        """
    }

    /// Reads at most $3 tasks with an id greater than $2.
    private static let firstChangesSQL = changesSQL(
        """
        SELECT id AS place, NULL::bigint AS removed, \(TaskColumns.all) FROM tasks WHERE owner = $1 AND id > $2
        """)

    /// Reads at most $3 tasks and removed tasks with a change number greater than $2.
    private static let laterChangesSQL = changesSQL(
        """
        (SELECT change AS place, NULL::bigint AS removed, \(TaskColumns.all) FROM tasks
        WHERE owner = $1 AND change > $2 ORDER BY change LIMIT $3)
        UNION ALL
        (SELECT change, id, \(TaskItem.columns.dropFirst().map { _ in "NULL" }.joined(separator: ", "))
        FROM removed_tasks WHERE owner = $1 AND change > $2 ORDER BY change LIMIT $3)
        """)

    /// Adds $2 tasks at once, if there are not more than $3 then and the owner was not deleted at $4 or later; makes
    /// the owner's row, with the origin $5, if there is none.
    ///
    /// The answer is the id of the first task and its change number. An answer without a row means that nothing was
    /// added, for whatever reason: then each addition reads the owner's row by itself.
    private static let addSQL = """
        WITH taken AS (\(takeSQL)), made AS (
            INSERT INTO owners(owner, next_id, tasks, change, origin) SELECT $1, 1 + $2, $2, $2, $5
            WHERE $2 <= $3 AND NOT EXISTS (SELECT FROM taken) AND NOT EXISTS (SELECT FROM owners WHERE owner = $1)
            ON CONFLICT DO NOTHING RETURNING 1::bigint AS id, 1::bigint AS change
        ), first AS (SELECT id, change FROM taken UNION ALL SELECT id, change FROM made), added AS (
            INSERT INTO tasks(owner, \(TaskColumns.all), change)
            SELECT $1, first.id + line.number - 1, line.text, line.completed, line.time, line.time, 1,
                \(TaskDetail.list { "line.\($0.name)" }), first.change + line.number - 1
            FROM first, unnest($6, $7, $8, \(TaskDetail.parameters(from: 9))) WITH ORDINALITY
                AS line(text, completed, time, \(TaskDetail.columns), number)
        )
        SELECT id, change FROM first
        """

    /// Counts $2 tasks in the owner's row, and answers as ``addSQL`` does; the caller inserts the tasks.
    private static let takeSQL = """
        UPDATE owners SET next_id = next_id + $2, tasks = tasks + $2, change = change + $2
        WHERE owner = $1 AND tasks <= $3 - $2 AND coalesce(deleted < $4, true)
            AND next_id BETWEEN 1 AND \(Int64.greatestTaskNumber) + 1 - $2
        RETURNING next_id - $2 AS id, change - $2 + 1 AS change
        """

    private static let makeOwnerSQL =
        "INSERT INTO owners(owner, next_id, tasks, origin) VALUES ($1, 1, 0, $2) ON CONFLICT DO NOTHING"

    private static let attemptColumns = IdempotencyRecord.columns.dropFirst().names

    private static func inserting(_ columns: [TableColumn], into table: String) -> (sql: String, types: [Parameter]) {
        let parameters = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
        return (
            "INSERT INTO \(table)(\(columns.names)) VALUES (\(parameters))", columns.map { Parameter($0, nil) }
        )
    }

    private static let limitAttemptsSQL = """
        DELETE FROM attempts WHERE owner = $1 AND id <=
            CASE WHEN EXISTS (SELECT FROM attempts WHERE owner = $1 AND id < $2) THEN (
                SELECT id FROM attempts WHERE owner = $1 ORDER BY id DESC LIMIT 1 OFFSET \(IdempotencyKey.remembered)
            ) END
        """

    /// The same as ``updateSQL`` for one task, because PostgreSQL plans `updateSQL` anew each time.
    private static let changeSQL = """
        UPDATE tasks SET text = coalesce($3, text), completed = $4, modified = $5, revision = $6, change = $7,
            \(TaskDetail.list { "\($0.name) = CASE WHEN $8 THEN $\(9 + $0.rawValue) ELSE \($0.name) END" })
        WHERE owner = $1 AND id = $2
        """

    /// Changes tasks; a text that is NULL stays, and so do the details unless $8 is true.
    ///
    /// PostgreSQL would write an equal long text again. As the ids stand twice, no plan reads all of the owner's tasks.
    private static let updateSQL = """
        UPDATE tasks SET text = coalesce(new_text, text), completed = new_completed, modified = new_modified,
            revision = new_revision, change = new_change,
            \(TaskDetail.list { "\($0.name) = CASE WHEN has_details THEN new_\($0.name) ELSE \($0.name) END" })
        FROM unnest($2, $3, $4, $5, $6, $7, $8, \(TaskDetail.parameters(from: 9))) AS line(
            line_id, new_text, new_completed, new_modified, new_revision, new_change, has_details,
            \(TaskDetail.list { "new_\($0.name)" }))
        WHERE owner = $1 AND id = ANY ($2) AND id = line_id
        """

    private static let putOwnerSQL = "UPDATE owners SET next_id = $2, tasks = $3, change = $4 WHERE owner = $1"

    /// Removes the tasks $5, keeps them as removed with the change numbers $6 and the times $7, forgets the
    /// removals before the owner's last ``Tasks/RemovedTask/changes`` changes, and writes the owner's row.
    private static func removeSQL(_ condition: String, kept rows: String) -> String {
        """
        WITH gone AS (DELETE FROM tasks WHERE owner = $1 AND \(condition)), kept AS (
            INSERT INTO removed_tasks(owner, id, change, time) \(rows) ON CONFLICT DO NOTHING
        ), forgotten AS (
            DELETE FROM removed_tasks WHERE owner = $1 AND change <= $4 - \(RemovedTask.changes)
        ) \(putOwnerSQL)
        """
    }

    /// Inserts the largest row that is stored without TOAST, to prove that there is room; the same transaction
    /// removes the row.
    private static let probeSQL = """
        INSERT INTO tasks(owner, id, text, completed, created, modified, revision)
        SELECT $1, \(probeID), repeat('x', 1900), false, 0, 0, 1
        """

    /// The id of the probe's task, which no other task has.
    static let probeID: Int64 = 0

    var preparedName: String { Self.preparedNames[self] ?? rawValue }

    /// Each name changes with the SQL, so that one name never means two statements in a pool of sessions that another
    /// version of this program shares.
    private static let preparedNames = Dictionary(
        uniqueKeysWithValues: allCases.map {
            ($0, "task_\($0.rawValue)_\(String(FNV1a(of: $0.sql).value, radix: 36))")
        })
}

/// The statements that begin and end a transaction, and those that name no owner.
extension TaskStatement {
    /// Whether the statement concerns one owner, its `$1`.
    package var namesOwner: Bool {
        switch self {
        case .begin, .beginReads, .transactionSettings, .commit, .rollBack, .points: false
        case .prune, .pruneOwners, .pruneDistributed, .pruneDistributedOwners, .oldestRemoved: false
        default: true
        }
    }

    /// Whether the statement is prepared in a session that is not shared.
    ///
    /// The other statements are always sent as SQL, because with a pool a session may lack names. A COMMIT that fails
    /// for that reason is in doubt, and a ROLLBACK that fails leaves the session in its failed transaction.
    var isPrepared: Bool { namesOwner && self != .pruneRemoved || self == .transactionSettings || self == .points }

    /// Removes up to $2 idempotency keys of any owner that are older than $1; the answer has one row for each.
    ///
    /// The statement waits for no other server that does the same, and takes other rows.
    static let pruneSQL = """
        DELETE FROM attempts USING (
            SELECT owner, key FROM attempts WHERE time <= $1 ORDER BY time LIMIT $2 FOR UPDATE SKIP LOCKED
        ) AS old
        WHERE attempts.owner = old.owner AND attempts.key = old.key
        RETURNING true
        """

    /// Forgets up to $3 tasks that an owner has removed until $2, and notes their last change number in the owner's
    /// row; the answer has one row for each.
    ///
    /// The statement locks the owner's row, and waits for nobody who has locked the row.
    static let pruneRemovedSQL = """
        WITH locked AS (SELECT owner FROM owners WHERE owner = $1 FOR UPDATE SKIP LOCKED), gone AS (
            DELETE FROM removed_tasks USING (
                SELECT removed_tasks.change FROM removed_tasks, locked
                WHERE removed_tasks.owner = $1 AND locked.owner = $1 AND time <= $2 ORDER BY change LIMIT $3
            ) AS old
            WHERE removed_tasks.owner = $1 AND removed_tasks.change = old.change RETURNING removed_tasks.change
        ), noted AS (
            UPDATE owners SET forgotten = greatest(forgotten, (SELECT max(change) FROM gone))
            WHERE owner = $1 AND EXISTS (SELECT FROM gone)
        )
        SELECT true FROM gone
        """

    /// Removes up to $2 rows of owners who were deleted at $1 or before, and have added nothing since.
    static let pruneOwnersSQL = """
        DELETE FROM owners USING (SELECT owner FROM owners WHERE \(isGone) LIMIT $2 FOR UPDATE SKIP LOCKED) AS old
        WHERE owners.owner = old.owner RETURNING true
        """
    private static let isGone = "deleted <= $1 AND tasks = 0 AND next_id = first_id"

    /// Gives each statement, and each pause between two, a deadline of $1 milliseconds, and a quarter of a second to
    /// wait for a row that others have locked.
    ///
    /// The commit answers when it is on a disk, whatever the role's defaults are. The settings end with the
    /// transaction, so that a pool of sessions may be in between.
    static let transactionSettingsSQL = """
        SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '250', true),
            set_config('idle_in_transaction_session_timeout', $1, true), set_config('synchronous_commit',
            CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
            ELSE current_setting('synchronous_commit') END, true)
        """
}

/// A statement with its parameters, as a session sends it.
struct BoundStatement: Sendable {
    let kind: TaskStatement
    /// The owner whose tasks the statement concerns, its `$1`; nil if it concerns no owner.
    let owner: Owner?
    let parameters: [Parameter]

    /// The `others` come after the owner.
    init(_ kind: TaskStatement, of owner: Owner? = nil, _ others: [Parameter] = []) {
        self.kind = kind
        self.owner = owner
        parameters = (owner.map { [.text($0.identifier)] } ?? []) + others
    }

    /// The name of the statement in a session in which it was prepared; otherwise its SQL.
    func form(isPrepared: Bool, hasWriter: Bool) -> PipelineConnection.Statement {
        isPrepared && kind.isPrepared
            ? .prepared(kind.preparedName) : .text(hasWriter ? kind.sql : kind.sqlWithoutWriter)
    }
}
