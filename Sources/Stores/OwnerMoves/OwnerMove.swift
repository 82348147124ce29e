import Basics
import JSON
import TaskArchive
import Tasks

/// What a database has of an owner.
struct OwnerState: Equatable {
    var next: Int64 = 1
    var tasks: Int64 = 0
    /// The least id of a task or an idempotency key; nil without any.
    var first: Int64?

    /// The state of an owner whom the database does not know.
    init() {}

    /// What was stored; the least ids of the tasks and of the keys are nil without any.
    init(_ counts: OwnerCounts, firstTask: Int64?, firstKey: Int64?) throws(ForeignValue) {
        let ids = [firstTask, firstKey].compactMap(\.self)
        guard ids.allSatisfy(\.isTaskNumber) else { throw .number }
        (next, tasks, first) = (counts.next, counts.tasks, ids.min())
    }
}

/// What a move has done.
enum MoveOutcome: Equatable {
    /// There were no tasks to move.
    case nothing
    /// Both owners have tasks, and their lists are not to be put together: nothing was changed.
    case conflict(old: Int64, new: Int64)
    case moved(tasks: Int64, hasNewIDs: Bool, isMerged: Bool)
}

/// What to do with an owner's tasks, keys and ids.
///
/// Ids stay, unless the new owner has given one of them already, also to a task that is gone: then all are raised by
/// the last one given. Idempotency keys keep naming their tasks.
struct OwnerMove {
    /// The outcome once the move is committed.
    let outcome: MoveOutcome
    /// Ids are raised by `offset`, and the new owner's next id is then `next`; nil if nothing is to be written.
    let rewrite: (offset: Int64, next: Int64)?

    init(_ old: OwnerState, to new: OwnerState, merging: Bool) throws(ForeignValue) {
        guard merging || old.tasks == 0 || new.tasks == 0 else {
            (outcome, rewrite) = (.conflict(old: old.tasks, new: new.tasks), nil)
            return
        }
        guard let first = old.first else {
            // Ids that were given are not given again by the new owner, either.
            (outcome, rewrite) = (.nothing, new.next >= old.next ? nil : (offset: 0, next: old.next))
            return
        }
        let offset = first < new.next ? new.next - 1 : 0
        let next = max(new.next, old.next + offset)
        guard next.isNextID else { throw .lastID }
        rewrite = (offset, next)
        let moved = MoveOutcome.moved(tasks: old.tasks, hasNewIDs: offset > 0, isMerged: new.tasks > 0)
        outcome = old.tasks > 0 ? moved : .nothing
    }
}

/// The statements that move owners. Rows of `owners` are locked in the order of their names, as servers do it, before
/// anything else of an owner is touched.
extension TaskTables {
    /// What the database has of the owners of these pairs; nothing of those it does not know.
    ///
    /// Keys that are expired now count for nothing: a move removes them first.
    func knownStates(of pairs: some Sequence<OwnerPair>) throws(OperatorError) -> [Owner: OwnerState] {
        try rethrowing(as: \.forOperator) { () throws(Failure) in
            try states(of: pairs.flatMap { [$0.old, $0.new] }, IdempotencyKey.expiry)
        }
    }

    private func states(of owners: [Owner], _ expiry: Int64) throws(Failure) -> [Owner: OwnerState] {
        let rows = try run(
            """
            SELECT \(OwnerCounts.columns.names), (SELECT min(id) FROM tasks WHERE tasks.owner = owners.owner),
                (SELECT min(id) FROM attempts WHERE attempts.owner = owners.owner AND time > \(expiry))
            FROM owners WHERE owner \(Self.isLine)
            """, lines: owners.map { [.string($0.identifier)] }, of: [.text("owner")],
            giving: OwnerCounts.columns + [.integer("task"), .integer("key")])
        var states: [Owner: OwnerState] = [:]
        for row in rows {
            states[Owner(row[0].string ?? "")] = try checking { () throws(ForeignValue) in
                try OwnerState(OwnerCounts(row), firstTask: row[3].integer, firstKey: row[4].integer)
            }
        }
        return states
    }

    /// The next owners with tasks in byte order, and how many tasks they have; none at the end.
    func ownersWithTasks(after owner: Owner) throws(OperatorError) -> [(owner: Owner, tasks: Int64)] {
        let rows = try rethrowing(as: \.forOperator) { () throws(Failure) in
            try run(
                "SELECT owner, tasks FROM owners WHERE owner > ?1 AND tasks > 0 ORDER BY owner LIMIT 1000",
                [.string(owner.identifier)], giving: [.text("owner"), .integer("tasks")])
        }
        return rows.map { (Owner($0[0].string ?? ""), $0[1].integer ?? 0) }
    }

    /// Moves everything of an owner in one transaction; see ``OwnerMove``.
    func moved(_ pair: OwnerPair, merging: Bool) throws(OperatorError) -> MoveOutcome {
        try rethrowing(as: \.forOperator) { () throws(Failure) in try move(pair, merging: merging) }
    }

    private func move(_ pair: OwnerPair, merging: Bool) throws(Failure) -> MoveOutcome {
        try transaction { () throws(Failure) in
            guard try lock(pair) else { return .nothing }
            let owners: [JSONValue] = [.string(pair.old.identifier), .string(pair.new.identifier)]
            let expiry = IdempotencyKey.expiry
            // A key that is no longer remembered must not keep a newer one of the same name away.
            _ = try run("DELETE FROM attempts WHERE owner IN (?1, ?2) AND time <= \(expiry)", owners, giving: [])
            let states = try states(of: [pair.old, pair.new], expiry)
            let (old, new) = (states[pair.old] ?? OwnerState(), states[pair.new] ?? OwnerState())
            let move = try checking { () throws(ForeignValue) in try OwnerMove(old, to: new, merging: merging) }
            if let (offset, next) = move.rewrite { try rewrite(owners, old, offset: offset, next: next) }
            return move.outcome
        }
    }

    private func checking<Value>(_ work: () throws(ForeignValue) -> Value) throws(Failure) -> Value {
        try rethrowing(as: { Failure.corrupt($0.message) }, work)
    }

    /// Locks the rows of both owners, and makes that of the new one; false if the old one has none.
    private func lock(_ pair: OwnerPair) throws(Failure) -> Bool {
        var hasOld = false
        for owner in [pair.old, pair.new].sorted() {
            let name = [JSONValue.string(owner.identifier)]
            if owner == pair.new {
                _ = try run(
                    "INSERT INTO owners(owner, next_id, tasks) VALUES (?1, 1, 0) ON CONFLICT DO NOTHING", name,
                    giving: [])
            }
            let rows = try run(
                "SELECT owner FROM owners WHERE owner = ?1 \(Self.forUpdate)", name,
                giving: [.text("owner")])
            if owner == pair.old { hasOld = !rows.isEmpty }
        }
        return hasOld
    }

    /// Copies and deletes: not every database changes an owner, by which its tables are divided, in place.
    private func rewrite(_ owners: [JSONValue], _ old: OwnerState, offset: Int64, next: Int64) throws(Failure) {
        try copy(TaskItem.columns, of: "tasks", owners, offset)
        let gone = try run("DELETE FROM tasks WHERE owner = ?1 RETURNING owner", [owners[0]], giving: []).count
        guard gone == old.tasks else {
            throw .corrupt("an owner has \(gone) tasks, and the owner's row counts \(old.tasks)")
        }
        try copy(IdempotencyRecord.columns, of: "attempts", owners, offset, ifSame: "ON CONFLICT DO NOTHING")
        _ = try run("DELETE FROM attempts WHERE owner = ?1", [owners[0]], giving: [])
        _ = try run("DELETE FROM removed_tasks WHERE owner = ?1", [owners[0]], giving: [])
        // Clients of both owners read the whole list again, so the tasks need no change numbers.
        let renewal = "change = change + 1, origin = \(Self.newOrigin)"
        _ = try run(
            "UPDATE owners SET next_id = ?2, tasks = tasks + ?3, \(renewal) WHERE owner = ?1",
            [owners[1], .integer(next), .integer(old.tasks)], giving: [])
        // The row stays: it keeps the ids of the old owner from being given again.
        _ = try run("UPDATE owners SET tasks = 0, \(renewal) WHERE owner = ?1", [owners[0]], giving: [])
    }

    /// Copies the rows of the first owner to the second, with ids raised by the offset.
    private func copy(
        _ columns: [TableColumn], of table: String, _ owners: [JSONValue], _ offset: Int64, ifSame: String = ""
    ) throws(Failure) {
        let values = columns.map { $0.name == "owner" ? "?2" : $0.name == "id" ? "id + ?3" : $0.name }
        _ = try run(
            """
            INSERT INTO \(table)(\(columns.names)) SELECT \(values.joined(separator: ", "))
            FROM \(table) WHERE owner = ?1 \(ifSame)
            """, owners + [.integer(offset)], giving: [])
    }
}
