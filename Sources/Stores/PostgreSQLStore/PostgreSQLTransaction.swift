import Basics
import JSON
package import PostgreSQL
import StoreEngine
package import Tasks

/// One owner's tasks in a transaction of PostgreSQL: the rows that commands have read, and the unwritten changes.
///
/// The round trip that locks the owner's row also reads what the commands asked for, and their changes go with the
/// commit. Only a long list of changes takes more round trips, because its tasks are read and written piece by piece.
struct PostgreSQLTransaction: OwnerTransaction {
    typealias Failure = PostgreSQLError

    var change: OwnerChange
    private let session: PostgreSQLSession

    /// The ids of the tasks that commands read, each once.
    private var wanted: [Int64] = []
    /// The revisions by id, of the existing tasks that commands read.
    private var revisions: [Int64: Int64] = [:]
    /// The tasks that were read, and not yet written.
    private var tasks: [Int64: Result<TaskItem, ForeignValue>] = [:]
    private var selected: [Int64]?
    private var records: [String: Result<IdempotencyRecord, ForeignValue>] = [:]
    private var owner: OwnerRow?

    /// The statements of changes that were not sent yet, in the order of the changes.
    private var writes: [BoundStatement] = []
    /// The tasks to change after these statements, because many are changed by one statement.
    private var updated: [Int64: Update] = [:]
    private var isOwnerWritten = true
    private(set) var hasProbed = false
    /// The id of ``limitRecords(ifOfTasksBefore:)``, which is done once for all commands.
    private var limit: Int64?

    private typealias Update = (old: TaskItem, new: TaskItem, change: Int64)

    /// The most tasks that are read at once.
    private static let piece = Job.mostWeight
    /// The most tasks that are changed each by a statement of its own.
    private static let mostAlone = 64

    init(of owner: Owner, on session: PostgreSQLSession) {
        change = OwnerChange(of: owner)
        self.session = session
    }

    var answers: AnswerMemory { session.answers }

    private func statement(_ kind: TaskStatement, _ others: [Parameter] = []) -> BoundStatement {
        BoundStatement(kind, of: change.owner, others)
    }

    // MARK: Reading

    /// The statements that lock the owner's row and read the rows that the commands want.
    mutating func lockingStatements(for reads: [CommandReads]) -> [BoundStatement] {
        var (onlyRevisions, ids, keys): ([Int64], Set<Int64>, [String]) = ([], [], [])
        var statements: [BoundStatement] = []
        for read in reads {
            switch read {
            case .row(let key):
                if statements.isEmpty { statements.append(making) }
                if let key { keys.append(key) }
            case .rows(let list, let others):
                if statements.isEmpty { statements.append(making) }
                keys += others
                wanted += list.filter { ids.insert($0).inserted }
            case .tasks(let list): wanted += list.filter { ids.insert($0).inserted }
            case .revision(let id): onlyRevisions.append(id)
            case .selection: break
            }
        }
        statements.append(statement(.lockOwner))
        if wanted.count > Self.piece { onlyRevisions += wanted }
        if !onlyRevisions.isEmpty { statements.append(statement(.lockRevision, or: .lockRevisions, of: onlyRevisions)) }
        if !wanted.isEmpty { statements.append(lockTasks(wanted.prefix(Self.piece))) }
        statements += keys.map { statement(.attempt, [.text($0)]) }
        // An earlier command may change what a later one selects, so only a command that is alone selects here.
        if reads.count == 1, case .selection(let selection) = reads[0] { statements.append(finding(selection)) }
        return statements
    }

    private var making: BoundStatement { statement(.makeOwner, [.integer(ChangePoint.newOrigin)]) }

    private func finding(_ selection: RemoveTasks.Selection) -> BoundStatement {
        switch selection {
        case .withText(let text): statement(.withText, [.text(text.value)])
        case .completed: statement(.completed)
        case .before(let id): statement(.before, [.integer(id)])
        }
    }

    mutating func receive(_ rows: borrowing Rows, of statement: TaskStatement) {
        switch statement {
        case .lockOwner where rows.count > 0:
            var row = OwnerRow(next: rows.integer(0, 0), tasks: rows.integer(0, 1), change: rows.integer(0, 2))
            if !rows.isNull(0, 3) { (row.deleted, row.firstID) = (rows.integer(0, 3), rows.integer(0, 4)) }
            owner = row
        case .lockRevision, .lockRevisions:
            for row in 0..<rows.count { revisions[rows.integer(row, 0)] = rows.integer(row, 1) }
        case .lockTask, .lockTasks:
            for row in 0..<rows.count { receiveTask(rows, row) }
        case .withText, .completed, .before:
            selected = (0..<rows.count).map { rows.integer($0, 0) }
        case .attempt:
            for row in 0..<rows.count { receiveRecord(rows, row) }
        default: break
        }
    }

    private mutating func receiveTask(_ rows: borrowing Rows, _ row: Int) {
        let id = rows.integer(row, 0)
        revisions[id] = rows.integer(row, 5)
        do throws(ForeignValue) {
            tasks[id] = .success(try TaskColumns.item(in: rows, row, of: change.owner))
        } catch {
            tasks[id] = .failure(error)
        }
    }

    private mutating func receiveRecord(_ rows: borrowing Rows, _ row: Int) {
        let key = rows.text(row, 0)
        do throws(ForeignValue) {
            records[key] = .success(
                try IdempotencyRecord(of: change.owner) { rows.value(of: IdempotencyRecord.columns[$0 + 1], row, $0) })
        } catch {
            records[key] = .failure(error)
        }
    }

    func row() -> OwnerRow? { owner }

    mutating func stored(_ id: Int64) throws(PostgreSQLError) -> Result<TaskItem, ForeignValue>? {
        if tasks[id] == nil, revisions[id] != nil, let place = wanted.firstIndex(of: id) {
            let statements = takeWrites()
            tasks = [:]
            try read(statements, lockTasks(wanted[place...].prefix(Self.piece)))
        }
        return tasks[id]
    }

    private func lockTasks(_ ids: ArraySlice<Int64>) -> BoundStatement {
        statement(.lockTask, or: .lockTasks, of: Array(ids))
    }

    /// The statement for one id or for several.
    private func statement(_ one: TaskStatement, or several: TaskStatement, of ids: [Int64]) -> BoundStatement {
        ids.count == 1 ? statement(one, [.integer(ids[0])]) : statement(several, [.integers(ids)])
    }

    func revision(of id: Int64) -> Int64? { revisions[id] }

    mutating func ids(of selection: RemoveTasks.Selection) throws(PostgreSQLError) -> [Int64] {
        if selected == nil {
            let statements = takeWrites()
            try read(statements, finding(selection))
        }
        defer { selected = nil }
        return selected ?? []
    }

    func record(of key: String) throws(PostgreSQLError) -> IdempotencyRecord? {
        try rethrowing(as: PostgreSQLError.init) { () throws(ForeignValue) in try records[key]?.get() }
    }

    /// Sends changes, and after them a read, in one round trip.
    private mutating func read(_ writes: [BoundStatement], _ read: BoundStatement) throws(PostgreSQLError) {
        try session.exchangeAll(writes + [read]) { index, rows in
            if index == writes.count { receive(rows, of: read.kind) }
        }
    }

    // MARK: Writing

    mutating func put(_ row: OwnerRow) {
        owner = row
        isOwnerWritten = false
    }

    mutating func renew(_ row: OwnerRow) {
        put(row)
        writes.append(statement(.renewOwner, [.integer(ChangePoint.newOrigin)]))
    }

    mutating func mark(_ row: OwnerRow) {
        put(row)
        let mark = [Parameter.integer(row.deleted), .integer(row.firstID), .integer(ChangePoint.newOrigin)]
        writes.append(statement(.markOwner, mark))
    }

    mutating func insert(_ item: TaskItem, change: Int64) {
        writes.append(insertion(of: item, change: change))
        note(item)
    }

    mutating func update(_ old: TaskItem, to new: TaskItem, change: Int64) {
        updated[new.id] = (updated[new.id]?.old ?? old, new, change)
        note(new)
    }

    private mutating func note(_ item: TaskItem) {
        tasks[item.id] = .success(item)
        revisions[item.id] = item.revision
    }

    /// Writes the owner's row by the same statement.
    mutating func delete(_ removed: [RemovedTask]) {
        for task in removed { (tasks[task.id], revisions[task.id], updated[task.id]) = (nil, nil, nil) }
        writes.append(removal(of: removed))
        isOwnerWritten = true
    }

    mutating func put(_ record: IdempotencyRecord) {
        let key = record.key.key
        if records.updateValue(.success(record), forKey: key) != nil {
            writes.append(statement(.forgetAttempt, [.text(key)]))
        }
        writes.append(statement(.putAttempt, [Parameter](IdempotencyRecord.columns, record.row)))
    }

    mutating func forgetRecords(ofTasksBefore id: Int64) {
        writes.append(statement(.forgetAttempts, [.integer(id)]))
    }

    mutating func limitRecords(ifOfTasksBefore id: Int64) { limit = id }

    mutating func forgetRemovedTasks() { writes.append(statement(.forgetRemoved)) }

    /// Proves that there is room; where writes succeed, the lock is enough: a server that only reads refuses it.
    mutating func probe() {
        guard session.isProbing else { return }
        writes += [statement(.probe), statement(.removeProbe)]
        hasProbed = true
    }

    /// The statements of all changes that were not written yet.
    mutating func takeWrites() -> [BoundStatement] {
        var statements = writes
        if updated.count > Self.mostAlone {
            statements.append(update(Array(updated.values)))
        } else {
            statements += updated.values.map { change($0.old, to: $0.new, $0.change) }
        }
        if !isOwnerWritten { statements.append(statement(.putOwner, counts)) }
        if let limit { statements.append(statement(.limitAttempts, [.integer(limit)])) }
        (writes, updated, isOwnerWritten, limit) = ([], [:], true, nil)
        return statements
    }

    private var counts: [Parameter] {
        let row = owner ?? OwnerRow()
        return [.integer(row.next), .integer(row.tasks), .integer(row.change)]
    }

    func insertion(of item: TaskItem, change: Int64) -> BoundStatement {
        statement(.insert, [Parameter](TaskItem.columns, item.row) + [.integer(change)])
    }

    private func removal(of tasks: [RemovedTask]) -> BoundStatement {
        guard tasks.count == 1 else {
            return statement(
                .removeSeveral,
                counts + [.integers(tasks.map(\.id)), .integers(tasks.map(\.change)), .integers(tasks.map(\.time))])
        }
        return statement(
            .remove, counts + [.integer(tasks[0].id), .integer(tasks[0].change), .integer(tasks[0].time)])
    }

    private func change(_ old: TaskItem, to new: TaskItem, _ number: Int64) -> BoundStatement {
        let hasDetails = old.details != new.details
        return statement(
            .change,
            [
                .integer(new.id), .text(old.text == new.text ? nil : new.text.value), .boolean(new.completed),
                .integer(new.modified), .integer(new.revision), .integer(number), .boolean(hasDetails),
            ] + (hasDetails ? new.details : TaskDetails()).parameters)
    }

    private func update(_ items: [Update]) -> BoundStatement {
        let haveDetails = items.map { $0.old.details != $0.new.details }
        return statement(
            .update,
            [
                .integers(items.map(\.new.id)),
                .texts(items.map { $0.old.text == $0.new.text ? nil : $0.new.text.value }),
                .booleans(items.map(\.new.completed)), .integers(items.map(\.new.modified)),
                .integers(items.map(\.new.revision)), .integers(items.map(\.change)), .booleans(haveDetails),
            ] + zip(items, haveDetails).map { $1 ? $0.new.details : TaskDetails() }.parameters)
    }
}

extension PostgreSQLError: TransactionFailure {
    /// The error for a row that no task-server wrote, with the code of damaged data.
    package init(_ value: ForeignValue) { self.init(sqlState: "XX001", message: value.message) }
}
