import Basics
import JSON
import SQLite
import StoreEngine
import Tasks

/// A command as this store runs it, in a transaction that it may share with others.
protocol SQLiteCommand: TaskCommand {
    /// Makes the change; an error rolls back the whole transaction.
    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> Outcome
    /// How many rows of tasks the command may change.
    var rows: Int { get }
}

extension AddTask: SQLiteCommand {
    var rows: Int { 1 }

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> AddOutcome {
        if let key, let earlier = try database.idempotency.record(of: key, at: time, owner: owner) {
            return earlier.outcome(for: key)
        }
        guard let id = try database.statements.allocateID(of: owner, limit: limit) else { return .full }
        let item = item(id)
        try database.statements.insert(item)
        if let key {
            try database.idempotency.put(IdempotencyRecord(key: key, item: item))
            if id > IdempotencyKey.remembered { try database.idempotency.trim(of: owner) }
        }
        return .added(item)
    }
}

extension ChangeTask: SQLiteCommand {
    var rows: Int { 1 }

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> ChangeOutcome {
        let item = try database.statements.find(id, of: owner)
        let outcome = outcome(for: item)
        if case .changed(let changed) = outcome, changed.revision != item?.revision {
            try database.statements.update(changed)
        }
        return outcome
    }
}

extension ChangeTasks: SQLiteCommand {
    var rows: Int { changes.count }

    /// Looks at all revisions before it writes a task, because a refused list must leave nothing in a shared transaction.
    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> ChangeAllOutcome {
        var revisions: [Int64: Int64] = [:]
        for change in changes { revisions[change.id] = try database.statements.revision(change.id, of: owner) }
        if let refusal = changes.refusal(atRevisions: revisions) { return refusal }
        var page: TaskPage? = TaskPage(of: owner, atMost: nil, in: database.answers)
        for change in changes {
            guard let item = try database.statements.find(change.id, of: owner) else { continue }
            let changed = item.applying(change.change, at: time)
            if let changed { try database.statements.update(changed) }
            // An answer has all of the tasks or is left out.
            if (try? page?.append(changed ?? item)) != true { page = nil }
        }
        return .changed(page?.list())
    }
}

extension RemoveTask: SQLiteCommand {
    var rows: Int { 1 }

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> RemoveOutcome {
        if expected != nil {
            let outcome = outcome(for: try database.statements.find(id, of: owner))
            guard outcome == .removed else { return outcome }
        }
        return try database.statements.delete(id, of: owner) > 0 ? .removed : .missing
    }
}

extension RemoveTasks: SQLiteCommand {
    var rows: Int { WriteStatements.mostRemoved }

    /// Removes some of the tasks; the store repeats the command.
    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> Int {
        try database.statements.delete(selection, of: owner)
    }
}

/// Adds a task of the greatest length, of an owner that no token can have, and removes it in the same transaction.
///
/// So the probe needs what every addition needs, and leaves nothing.
struct WriteProbe: SQLiteCommand {
    typealias Outcome = Int
    let owner = Owner("")
    let rows = 1

    /// The outcome counts as a change, because the commit shows that the disk takes writes.
    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> Int {
        var details = TaskDetails()
        for detail in TaskDetail.allCases {
            details[detail] = detail.kind.longestText.map { .string(String(repeating: "x", count: $0)) }
        }
        guard let text = try? TaskText(String(repeating: "x", count: TaskText.longest)) else { return 0 }
        let item = TaskItem(id: 1, owner: owner, text: text, created: 0, modified: 0, details: details)
        try database.statements.insert(item)
        return try database.statements.delete(item.id, of: owner)
    }
}
