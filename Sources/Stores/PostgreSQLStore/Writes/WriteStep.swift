import PostgreSQL
import Tasks

/// A part of a transaction: the statements of one or more writes of an owner, and what their answers mean.
struct WriteStep {
    private enum Meaning {
        /// Additions without idempotency keys: one statement for all of them.
        case additions([AddTask])
        case keyedAddition(IdempotencyKey)
        case change(ChangeTask)
        case changes(ChangeTasks)
        case removal
        case removals
        case check
    }

    let writes: [Write]
    let statements: [Statement]
    private let meaning: Meaning

    /// What each of the writes comes to, by the answers of the statements in the transaction that was committed.
    func verdicts(_ answers: ArraySlice<Answer>) -> [Write.Verdict] {
        for case .unreadable(let error) in answers { return writes.map { _ in .refuse(error) } }
        let (before, last) = (answers.dropLast().last ?? .nothing, answers.last ?? .nothing)
        switch meaning {
        case .additions(let tasks): return added(tasks, last)
        case .keyedAddition(let key): return [Self.verdict(of: key, answers)]
        case .change(let change):
            return [.answer(.change(Self.outcome(of: change, before: before, after: last)))]
        case .changes(let command): return [Self.verdict(of: command, before: before, after: last)]
        case .removal: return [.answer(.removal(Self.outcomeOfRemoval(before: before, after: last)))]
        case .removals:
            guard case .number(let count) = last else { return [.answer(.removals(0))] }
            return [.answer(.removals(Int(count)))]
        case .check: return [.answer(.checked)]
        }
    }
}

// MARK: Statements

extension WriteStep {
    /// Additions without idempotency keys.
    init(adding writes: [Write], _ tasks: [AddTask], of owner: Owner) {
        self.writes = writes
        meaning = .additions(tasks)
        let parameters: [Parameter] =
            [
                .integer(Int64(tasks.count)), .integer(Int64(Self.limit(of: tasks))), .texts(tasks.map(\.text.value)),
                .booleans(tasks.map(\.completed)), .integers(tasks.map(\.time)),
            ] + Self.details(of: tasks)
        statements = [Statement(.add, of: owner, parameters)]
    }

    /// Any other write.
    ///
    /// With `isLocked` an earlier statement of the transaction has locked the owner's row; with `isProbing` a check of the
    /// database writes as an addition does.
    init(_ write: Write, isLocked: Bool, isProbing: Bool) {
        let owner = write.owner
        let lock = isLocked ? [] : [Statement(.lockOwner, of: owner)]
        writes = [write]
        switch write.command {
        case .add(let task):
            let key = task.key ?? IdempotencyKey(key: "", fingerprint: 0)
            meaning = .keyedAddition(key)
            statements = Self.statements(adding: task, under: key)
        case .change(let change):
            meaning = .change(change)
            statements = lock + Self.statements(changing: change)
        case .changeAll(let command):
            meaning = .changes(command)
            statements = lock + Self.statements(changing: command)
        case .remove(let removal):
            meaning = .removal
            statements = lock + Self.statements(removing: removal)
        case .removeText(let removal):
            meaning = .removals
            statements = lock + [Statement(.removeText, of: owner, [.text(removal.text.value)])]
        case .removeCompleted:
            meaning = .removals
            statements = lock + [Statement(.removeCompleted, of: owner)]
        case .check:
            meaning = .check
            // The lock finds no row, but a server that only reads refuses it.
            statements =
                isProbing
                ? [Statement(.probe, of: owner)]
                    + Self.statements(removing: RemoveTask(owner: owner, id: 0, expected: nil))
                : [Statement(.lockOwner, of: owner)]
        }
    }

    private static func statements(adding task: AddTask, under key: IdempotencyKey) -> [Statement] {
        [
            Statement(.makeOwner, of: task.owner),
            Statement(.lockOwner, of: task.owner),
            Statement(
                .forgetAttempts, of: task.owner, [.text(key.key), .integer(task.time - IdempotencyKey.lifetime)]),
            Statement(
                .addOnce, of: task.owner,
                [
                    .text(key.key), .integer(Int64(task.limit)), .integer(Int64(bitPattern: key.fingerprint)),
                    .text(task.text.value), .boolean(task.completed), .integer(task.time),
                    .text(task.details.due?.text), .text(task.details.notes?.value),
                    .real(task.details.position?.value),
                ]),
        ]
    }

    /// The task is read under a lock first, so that the effect of the second statement is known.
    private static func statements(changing change: ChangeTask) -> [Statement] {
        let details = change.change.details
        return [
            Statement(.lockTask, of: change.owner, [.integer(change.id)]),
            Statement(
                .change, of: change.owner,
                [
                    .integer(change.id), .text(change.change.text?.value), .boolean(change.change.completed),
                    .integer(change.time), .boolean(change.expected == nil),
                    .integers(change.expected.map(Array.init) ?? []),
                    .text(details.due.isSet ? details.due.value?.text ?? "" : nil),
                    .text(details.notes.isSet ? details.notes.value?.value ?? "" : nil),
                    .real(details.position.isSet ? details.position.value?.value ?? .nan : nil),
                ]),
        ]
    }

    /// With a condition the task is read under a lock first, so that a refusal can be told from a task that is missing.
    private static func statements(removing removal: RemoveTask) -> [Statement] {
        let remove = Statement(
            .remove, of: removal.owner,
            [
                .integer(removal.id), .boolean(removal.expected == nil),
                .integers(removal.expected.map(Array.init) ?? []),
            ])
        guard removal.expected != nil else { return [remove] }
        return [Statement(.lockTask, of: removal.owner, [.integer(removal.id)]), remove]
    }

    /// The revisions are read under locks first; the second statement changes either all of the tasks or none.
    private static func statements(changing command: ChangeTasks) -> [Statement] {
        let changes = command.changes
        return [
            Statement(.lockTasks, of: command.owner, [.integers(changes.map(\.id))]),
            Statement(
                .changeAll, of: command.owner,
                [
                    .integer(command.time), .integers(changes.map(\.id)), .optionalIntegers(changes.map(\.expected)),
                    .optionalTexts(changes.map(\.change.text?.value)),
                    .optionalBooleans(changes.map(\.change.completed)),
                ] + details(of: changes.map(\.change.details)) + [.integer(Int64(command.answers.pageSize))]),
        ]
    }

    /// Three arrays, or three times NULL if nothing is named; the marks of removal are those of ``TaskStatement/change``.
    private static func details(of changes: [TaskDetailsChange]) -> [Parameter] {
        guard changes.contains(where: { !$0.isEmpty }) else {
            return [.optionalTexts(nil), .optionalTexts(nil), .optionalReals(nil)]
        }
        return [
            .optionalTexts(changes.map { $0.due.isSet ? $0.due.value?.text ?? "" : nil }),
            .optionalTexts(changes.map { $0.notes.isSet ? $0.notes.value?.value ?? "" : nil }),
            .optionalReals(changes.map { $0.position.isSet ? $0.position.value?.value ?? .nan : nil }),
        ]
    }

    /// Three arrays, or three times NULL if nothing is set, as in almost every transaction.
    private static func details(of tasks: [AddTask]) -> [Parameter] {
        guard tasks.contains(where: { !$0.details.isEmpty }) else {
            return [.optionalTexts(nil), .optionalTexts(nil), .optionalReals(nil)]
        }
        return [
            .optionalTexts(tasks.map(\.details.due?.text)), .optionalTexts(tasks.map(\.details.notes?.value)),
            .optionalReals(tasks.map(\.details.position?.value)),
        ]
    }

    private static func limit(of tasks: [AddTask]) -> Int { tasks.lazy.map(\.limit).min() ?? 0 }
}

// MARK: Answers

extension WriteStep {
    private func added(_ tasks: [AddTask], _ answer: Answer) -> [Write.Verdict] {
        if case .number(let first) = answer, first > 0 {
            return tasks.enumerated().map { .answer(.addition(.added($1.item(first + Int64($0))))) }
        }
        if case .number(-1) = answer { return writes.map { _ in .refuse(StoreError(ForeignValue.lastID)) } }
        guard answer != .nothing || tasks.count > Self.limit(of: tasks) else {
            // Another server made the owner's row at that moment.
            return writes.map { write in
                write.retry.nextTry.map { .retry($0) } ?? .refuse(.unavailable(reason: "an owner's row was not found"))
            }
        }
        return tasks.count == 1 ? [.answer(.addition(.full))] : writes.map { .retry($0.retry.afterSplit) }
    }

    /// Where nothing was added, the owner's row, which was locked before, tells whether an id was left.
    private static func verdict(of key: IdempotencyKey, _ answers: ArraySlice<Answer>) -> Write.Verdict {
        guard case .attempt(let isNew, let fingerprint, let item)? = answers.last else {
            for case .number(let next) in answers where !next.isTaskNumber {
                return .refuse(StoreError(ForeignValue.lastID))
            }
            return .answer(.addition(.full))
        }
        if isNew { return .answer(.addition(.added(item))) }
        return .answer(.addition(fingerprint == key.fingerprint ? .repeated(item) : .keyReused))
    }

    private static func outcome(of change: ChangeTask, before: Answer, after: Answer) -> ChangeOutcome {
        if case .task(let item) = after { return .changed(item) }
        guard case .task(let item) = before else { return .missing }
        return item.isExpected(change.expected) ? .changed(item) : .conflict(item)
    }

    /// What was there before is known only where there was a condition: a task that is not gone did not meet it.
    private static func outcomeOfRemoval(before: Answer, after: Answer) -> RemoveOutcome {
        if case .number(let count) = after, count > 0 { return .removed }
        return if case .task = before { .conflict } else { .missing }
    }

    private static func verdict(of command: ChangeTasks, before: Answer, after: Answer) -> Write.Verdict {
        let changes = command.changes
        guard case .revisions(let revisions) = before else {
            return .answer(.changes(.missing(changes.map(\.id))))
        }
        if let refusal = changes.refusal(atRevisions: revisions) { return .answer(.changes(refusal)) }
        switch after {
        case .number(let count) where count == changes.count: return .answer(.changes(.changed(nil)))
        case .tasks(let tasks) where tasks.count == changes.count:
            let byID = Dictionary(tasks.map { ($0.id, $0) }) { first, _ in first }
            let answer = command.answer(with: changes.lazy.compactMap { byID[$0.id] })
            return .answer(.changes(.changed(answer)))
        default: return .refuse(.broken(reason: "a list of changes was not made as a whole"))
        }
    }
}
