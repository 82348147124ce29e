import PostgreSQL
import StoreEngine
import Tasks

/// A command as this store runs it: statements in a transaction that others share, and what their answers mean.
protocol PostgreSQLCommand: TaskCommand {
    /// How much of a transaction the command takes: the number of tasks that it names, at least 1.
    var weight: Int { get }
    /// Whether the command's own statements lock the owner's row where that is needed; otherwise the row is locked before.
    var locksOwner: Bool { get }
    func statements(in context: WriteContext) -> [Statement]
    /// Whether a commit of the command shows that the database takes writes.
    func writes(in context: WriteContext) -> Bool
    /// The outcome, by the answers of the statements. The answer of a statement that locked the owner's row may come first.
    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> Outcome
}

extension PostgreSQLCommand {
    var weight: Int { 1 }
    var locksOwner: Bool { false }

    func writes(in context: WriteContext) -> Bool { true }
}

extension ArraySlice<Answer> {
    /// The answer of the last statement.
    fileprivate var final: Answer { last ?? .nothing }
    /// The answer of the statement before the last one.
    fileprivate var before: Answer { dropLast().last ?? .nothing }
}

/// An addition with an idempotency key has statements of its own; additions without one share a statement (``WriteStep``).
extension AddTask: PostgreSQLCommand {
    var locksOwner: Bool { true }

    func statements(in context: WriteContext) -> [Statement] {
        guard let key else { return [] }
        return [
            Statement(.makeOwner, of: owner), Statement(.lockOwner, of: owner),
            Statement(.forgetAttempts, of: owner, [.text(key.key), .integer(time - IdempotencyKey.lifetime)]),
            Statement(
                .addOnce, of: owner,
                [
                    .text(key.key), .integer(Int64(limit)), .integer(Int64(bitPattern: key.fingerprint)),
                    .text(text.value), .boolean(completed), .integer(time),
                ] + details.parameters),
        ]
    }

    /// Where nothing was added, the owner's row, which was locked before, tells whether an id was left.
    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> AddOutcome {
        if case .task(let item) = answers.final { return .added(item) }
        guard let key, case .attempt(let isNew, let record) = answers.final else {
            for case .number(let next) in answers where !next.isTaskNumber { throw StoreError(ForeignValue.lastID) }
            return .full
        }
        return isNew ? .added(record.item) : record.outcome(for: key)
    }
}

extension ChangeTask: PostgreSQLCommand {
    /// The task is read under a lock first, so that the effect of the second statement is known.
    func statements(in context: WriteContext) -> [Statement] {
        [
            Statement(.lockTask, of: owner, [.integer(id)]),
            Statement(
                .change, of: owner,
                [
                    .integer(id), .text(change.text?.value), .boolean(change.completed), .integer(time),
                    .boolean(expected == nil), .integers(expected.map(Array.init) ?? []),
                ] + change.details.marked.parameters),
        ]
    }

    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> ChangeOutcome {
        if case .task(let item) = answers.final { return .changed(item) }
        guard case .task(let item) = answers.before else { return .missing }
        return item.isExpected(expected) ? .changed(item) : .conflict(item)
    }
}

extension ChangeTasks: PostgreSQLCommand {
    var weight: Int { max(changes.count, 1) }

    /// The revisions are read under locks first; the second statement changes either all of the tasks or none.
    func statements(in context: WriteContext) -> [Statement] {
        [
            Statement(.lockTasks, of: owner, [.integers(changes.map(\.id))]),
            Statement(
                .changeAll, of: owner,
                [
                    .integer(time), .integers(changes.map(\.id)), .integers(changes.map(\.expected)),
                    .texts(changes.map(\.change.text?.value)),
                    .booleans(changes.map(\.change.completed)),
                ] + changes.map(\.change.details.marked).parameters + [.integer(Int64(context.answers.pageSize))]),
        ]
    }

    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> ChangeAllOutcome {
        guard case .revisions(let revisions) = answers.before else { return .missing(changes.map(\.id)) }
        if let refusal = changes.refusal(atRevisions: revisions) { return refusal }
        switch answers.final {
        case .number(let count) where count == changes.count: return .changed(nil)
        case .tasks(let tasks) where tasks.count == changes.count:
            let byID = Dictionary(tasks.map { ($0.id, $0) }) { first, _ in first }
            return .changed(answer(with: changes.lazy.compactMap { byID[$0.id] }, in: context.answers))
        default: throw .broken(reason: "a list of changes was not made as a whole")
        }
    }
}

extension RemoveTask: PostgreSQLCommand {
    /// With a condition the task is read under a lock first, so that a refusal can be told from a task that is missing.
    func statements(in context: WriteContext) -> [Statement] {
        let remove = Statement(
            .remove, of: owner,
            [.integer(id), .boolean(expected == nil), .integers(expected.map(Array.init) ?? [])])
        return expected == nil ? [remove] : [Statement(.lockTask, of: owner, [.integer(id)]), remove]
    }

    /// A task that was read before and was not removed did not meet the condition.
    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> RemoveOutcome {
        if case .number(let count) = answers.final, count > 0 { return .removed }
        return if case .task = answers.before { .conflict } else { .missing }
    }
}

extension RemoveTasks: PostgreSQLCommand {
    func statements(in context: WriteContext) -> [Statement] {
        switch selection {
        case .withText(let text): [Statement(.removeText, of: owner, [.text(text.value)])]
        case .completed: [Statement(.removeCompleted, of: owner)]
        }
    }

    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> Int {
        if case .number(let count) = answers.final { Int(count) } else { 0 }
    }
}

/// Shows that the database takes writes.
struct CheckDatabase: PostgreSQLCommand {
    typealias Outcome = Int

    /// No token can have this owner.
    let owner = Owner("")

    var locksOwner: Bool { true }

    /// The lock finds no row, but a server that only reads refuses it.
    func statements(in context: WriteContext) -> [Statement] {
        guard context.isProbing else { return [Statement(.lockOwner, of: owner)] }
        return [Statement(.probe, of: owner)]
            + RemoveTask(owner: owner, id: 0, expected: nil).statements(in: context)
    }

    func writes(in context: WriteContext) -> Bool { context.isProbing }

    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> Int { 0 }
}
