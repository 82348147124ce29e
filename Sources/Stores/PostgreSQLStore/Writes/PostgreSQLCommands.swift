import PostgreSQL
import StoreEngine
import Tasks

/// A command as PostgreSQL runs it: the statements to send, and what their answers mean.
protocol PostgreSQLCommand: StoreCommand {
    /// The statements of the command; where none of them locks the owner's row, one that does is sent before them.
    func statements(in context: WriteContext) -> [Statement]
    /// The outcome, by the answers of the statements. The answer of a statement that locked the owner's row may come first.
    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> Outcome
}

extension ArraySlice<Answer> {
    fileprivate var final: Answer { last ?? .nothing }
    fileprivate var before: Answer { dropLast().last ?? .nothing }
}

extension AddTask: PostgreSQLCommand {
    /// Adds tasks of one owner, without keys, if there is room for all of them.
    static func statement(adding commands: [AddTask], of owner: Owner) -> Statement {
        Statement(
            .add, of: owner,
            [
                .integer(Int64(commands.count)), .integer(Int64(commands.map(\.limit).min() ?? 0)),
                .texts(commands.map(\.text.value)), .booleans(commands.map(\.completed)),
                .integers(commands.map(\.time)),
            ] + commands.map(\.details).parameters)
    }

    /// An addition with an idempotency key has statements of its own; others may share one (``WriteStep``).
    func statements(in context: WriteContext) -> [Statement] {
        guard let key else { return [Self.statement(adding: [self], of: owner)] }
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

    /// Where nothing was added under a key, the owner's row, which was locked before, tells whether an id was left.
    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> AddOutcome {
        if case .firstID(let id) = answers.final { return .added(item(id)) }
        guard let key, case .attempt(let isNew, let record) = answers.final else {
            for case .nextID(let next) in answers where !next.isTaskNumber { throw StoreError(ForeignValue.lastID) }
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
                ] + changes.map(\.change.details.marked).parameters + [.integer(Int64(context.answerMemory.pageSize))]),
        ]
    }

    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> ChangeAllOutcome {
        guard case .revisions(let revisions) = answers.before else { return .missing(changes.map(\.id)) }
        if let refusal = changes.refusal(atRevisions: revisions) { return refusal }
        switch answers.final {
        case .count(let count) where count == changes.count: return .changed(nil)
        case .tasks(let tasks) where tasks.count == changes.count:
            let byID = Dictionary(tasks.map { ($0.id, $0) }) { first, _ in first }
            return .changed(answer(with: changes.lazy.compactMap { byID[$0.id] }, in: context.answerMemory))
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
        if case .count(let count) = answers.final, count > 0 { return .removed }
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
        if case .count(let count) = answers.final { count } else { 0 }
    }
}

extension WriteProbe: PostgreSQLCommand {
    /// Where writes succeed, the lock of the owner's row is enough: there is no row, but a server that only reads refuses.
    func statements(in context: WriteContext) -> [Statement] {
        guard context.isProbing else { return [] }
        return [Statement(.probe, of: owner)]
            + RemoveTask(owner: owner, id: TaskStatement.probeID, expected: nil).statements(in: context)
    }

    func outcome(of answers: ArraySlice<Answer>, in context: WriteContext) throws(StoreError) -> Outcome {
        context.isProbing ? .written : .notWritten
    }
}
