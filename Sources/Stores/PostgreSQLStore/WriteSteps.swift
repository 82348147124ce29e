import PostgreSQL
import Tasks

/// A statement with its parameters.
struct TaskCall {
    let statement: TaskStatement
    let parameters: [Parameter]
}

/// A part of a transaction: the statements of one or more writes, and what they answer.
///
/// Only the driving thread touches it.
protocol WriteStep: AnyObject {
    var writes: [QueuedWrite] { get }
    var calls: [TaskCall] { get }
    /// Takes the rows of one of the calls.
    func take(_ rows: borrowing Rows, ofCall index: Int) throws(StoreError)
    /// Answers, now that the transaction is committed; those that must be tried again.
    func answer() -> [QueuedWrite]
}

/// Additions of one owner without idempotency keys: one statement for all of them.
final class AdditionStep: WriteStep {
    let writes: [QueuedWrite]
    let calls: [TaskCall]
    private let owner: Owner
    private let tasks: [(new: NewTask, reply: Reply<AddOutcome>)]
    private var first: Int64?

    init(_ writes: [QueuedWrite], of owner: Owner) {
        self.writes = writes
        self.owner = owner
        let tasks: [(new: NewTask, reply: Reply<AddOutcome>)] = writes.compactMap { write in
            guard case .add(let new, _, let reply) = write.request else { return nil }
            return (new, reply)
        }
        self.tasks = tasks
        if tasks.count == 1, let new = tasks.first?.new, writes.allSatisfy({ $0.timesWithoutRoom == 0 }) {
            calls = [Self.call(adding: new, of: owner)]
        } else {
            calls = [Self.call(adding: tasks.map(\.new), of: owner)]
        }
    }

    private static func call(adding new: NewTask, of owner: Owner) -> TaskCall {
        TaskCall(
            statement: .addOne,
            parameters: [
                .text(owner.identifier), .integer(Int64(new.limit)), .text(new.text.value), .boolean(new.completed),
                .integer(new.time),
            ])
    }

    private static func call(adding tasks: [NewTask], of owner: Owner) -> TaskCall {
        TaskCall(
            statement: .add,
            parameters: [
                .text(owner.identifier), .integer(Int64(tasks.count)), .integer(Int64(tasks.map(\.limit).min() ?? 0)),
                .texts(tasks.map(\.text.value)), .booleans(tasks.map(\.completed)), .integers(tasks.map(\.time)),
            ])
    }

    func take(_ rows: borrowing Rows, ofCall index: Int) {
        if rows.count > 0 { first = rows.integer(0, 0) }
    }

    func answer() -> [QueuedWrite] {
        guard let first else { return answerNoRoom() }
        for (index, task) in tasks.enumerated() {
            task.reply.answer(.success(.added(task.new.item(first + Int64(index), of: owner))))
        }
        return []
    }

    /// There was no row with room for all of them together: each asks for itself, and makes the row if there is none.
    ///
    /// Another server may do so at the same moment, so only the second time that this finds nothing is believed.
    private func answerNoRoom() -> [QueuedWrite] {
        if tasks.count == 1, writes.allSatisfy({ $0.timesWithoutRoom == 2 }) {
            tasks.first?.reply.answer(.success(.full))
            return []
        }
        return writes.map { write in
            var write = write
            if tasks.count == 1 { write.timesWithoutRoom += 1 } else { write.isApart = true }
            return write
        }
    }
}

/// An addition with an idempotency key.
final class KeyedAdditionStep: WriteStep {
    let writes: [QueuedWrite]
    let calls: [TaskCall]
    private let owner: Owner
    private let key: IdempotencyKey
    private let reply: Reply<AddOutcome>
    private var outcome = AddOutcome.full

    init(_ write: QueuedWrite, _ new: NewTask, _ key: IdempotencyKey, _ reply: Reply<AddOutcome>, of owner: Owner) {
        writes = [write]
        self.owner = owner
        self.key = key
        self.reply = reply
        let name = Parameter.text(owner.identifier)
        calls = [
            TaskCall(statement: .makeOwner, parameters: [name]),
            TaskCall(statement: .lockOwner, parameters: [name]),
            TaskCall(
                statement: .forgetAttempts,
                parameters: [name, .text(key.key), .integer(new.time - IdempotencyKey.lifetime)]),
            TaskCall(
                statement: .addOnce,
                parameters: [
                    name, .text(key.key), .integer(Int64(new.limit)), .integer(Int64(bitPattern: key.fingerprint)),
                    .text(new.text.value), .boolean(new.completed), .integer(new.time),
                ]),
        ]
    }

    func take(_ rows: borrowing Rows, ofCall index: Int) throws(StoreError) {
        guard index == 3, rows.count > 0 else { return }
        let time = rows.integer(0, 5)
        let item = TaskItem(
            id: rows.integer(0, 2), owner: owner, text: try TaskColumns.text(rows.text(0, 3)),
            completed: rows.boolean(0, 4), created: time, modified: time)
        if rows.boolean(0, 0) {
            outcome = .added(item)
        } else {
            let isSame = UInt64(bitPattern: rows.integer(0, 1)) == key.fingerprint
            outcome = isSame ? .repeated(item) : .keyReused
        }
    }

    func answer() -> [QueuedWrite] {
        reply.answer(.success(outcome))
        return []
    }
}

/// A change: what is there is read under a lock, so that what the second statement did can be told.
final class AlterationStep: WriteStep {
    let writes: [QueuedWrite]
    let calls: [TaskCall]
    private let owner: Owner
    private let expected: Set<Int64>?
    private let reply: Reply<ChangeOutcome>
    private var before: TaskItem?
    private var after: TaskItem?

    init(_ write: QueuedWrite, _ alteration: TaskAlteration, _ reply: Reply<ChangeOutcome>, of owner: Owner) {
        writes = [write]
        self.owner = owner
        expected = alteration.expected
        self.reply = reply
        let place = [Parameter.text(owner.identifier), .integer(alteration.id)]
        calls = [
            TaskCall(statement: .lockTask, parameters: place),
            TaskCall(
                statement: .change,
                parameters: place + [
                    .text(alteration.change.text?.value), .boolean(alteration.change.completed),
                    .integer(alteration.time), .boolean(alteration.expected == nil),
                    .integers(alteration.expected.map(Array.init) ?? []),
                ]),
        ]
    }

    func take(_ rows: borrowing Rows, ofCall index: Int) throws(StoreError) {
        guard rows.count > 0 else { return }
        let item = try TaskColumns.item(in: rows, 0, of: owner)
        if index == 0 { before = item } else { after = item }
    }

    func answer() -> [QueuedWrite] {
        reply.answer(.success(outcome))
        return []
    }

    private var outcome: ChangeOutcome {
        if let after { return .changed(after) }
        guard let before else { return .missing }
        return expected?.contains(before.revision) ?? true ? .changed(before) : .conflict(before)
    }
}

/// A removal, of one task or of all with a text.
final class RemovalStep: WriteStep {
    let writes: [QueuedWrite]
    let calls: [TaskCall]
    private let give: (Int64) -> Void
    private var count: Int64 = 0

    init(_ write: QueuedWrite, _ call: TaskCall, _ give: @escaping (Int64) -> Void) {
        writes = [write]
        calls = [call]
        self.give = give
    }

    func take(_ rows: borrowing Rows, ofCall index: Int) {
        if rows.count > 0 { count = rows.integer(0, 0) }
    }

    func answer() -> [QueuedWrite] {
        give(count)
        return []
    }
}
