import Basics
import JSON
import SQLite
import StoreEngine
import Tasks

/// A command as SQLite's writer runs it.
protocol SQLiteCommand: StoreCommand {
    /// Makes the change; an error rolls back the whole transaction.
    func run(with statements: borrowing WriteStatements) throws(SQLiteError) -> Outcome
}

extension AddTask: SQLiteCommand {
    func run(with statements: borrowing WriteStatements) throws(SQLiteError) -> AddOutcome {
        if let key, let earlier = try statements.record(of: key, at: time, owner: owner) {
            return earlier.outcome(for: key)
        }
        guard let id = try statements.allocateID(of: owner, limit: limit) else { return .full }
        let item = item(id)
        try statements.insert(item)
        if let key {
            try statements.put(IdempotencyRecord(key: key, item: item))
            if id > IdempotencyKey.remembered { try statements.trimKeys(of: owner) }
        }
        return .added(item)
    }
}

extension ChangeTask: SQLiteCommand {
    func run(with statements: borrowing WriteStatements) throws(SQLiteError) -> ChangeOutcome {
        let item = try statements.find(id, of: owner)
        let outcome = outcome(for: item)
        if case .changed(let changed) = outcome, changed.revision != item?.revision {
            try statements.update(changed)
        }
        return outcome
    }
}

extension ChangeTasks: SQLiteCommand {
    /// Looks at all revisions before it writes a task, because a refused list must leave nothing in a shared transaction.
    ///
    /// Each task is read twice, because the tasks of a list with their notes could take 20 MiB at once.
    func run(with statements: borrowing WriteStatements) throws(SQLiteError) -> ChangeAllOutcome {
        var revisions: [Int64: Int64] = [:]
        for change in changes { revisions[change.id] = try statements.find(change.id, of: owner)?.revision }
        if let refusal = changes.refusal(atRevisions: revisions) { return refusal }
        var page: TaskPage? = TaskPage(of: owner, atMost: nil, in: statements.answers)
        for change in changes {
            guard let item = try statements.find(change.id, of: owner) else { continue }
            let changed = item.applying(change.change, at: time)
            if let changed { try statements.update(changed) }
            // An answer has all of the tasks or is left out.
            if (try? page?.append(changed ?? item)) != true { page = nil }
        }
        return .changed(page?.list())
    }
}

extension RemoveTask: SQLiteCommand {
    func run(with statements: borrowing WriteStatements) throws(SQLiteError) -> RemoveOutcome {
        if expected != nil {
            let outcome = outcome(for: try statements.find(id, of: owner))
            guard outcome == .removed else { return outcome }
        }
        return try statements.delete(id, of: owner) > 0 ? .removed : .missing
    }
}

extension RemoveTasks: SQLiteCommand {
    /// Removes some of the tasks; the store repeats the command.
    func run(with statements: borrowing WriteStatements) throws(SQLiteError) -> Int {
        try statements.delete(selection, of: owner)
    }
}

extension WriteProbe: SQLiteCommand {
    /// Adds a task of the greatest length, and removes it in the same transaction, so that no addition needs more room.
    func run(with statements: borrowing WriteStatements) throws(SQLiteError) -> Outcome {
        var details = TaskDetails()
        for detail in TaskDetail.allCases {
            details[detail] = detail.kind.longestText.map { .string(String(repeating: "x", count: $0)) }
        }
        guard let text = try? TaskText(String(repeating: "x", count: TaskText.longest)) else { return .notWritten }
        let item = TaskItem(id: 1, owner: owner, text: text, created: 0, modified: 0, details: details)
        try statements.insert(item)
        _ = try statements.delete(item.id, of: owner)
        return .written
    }
}
