import SQLite
import Tasks

/// One call that changes something, to be run in a transaction which it may share with others.
protocol WriteOperation: Sendable {
    associatedtype Outcome: Sendable
    /// Whose tasks.
    var owner: Owner { get }
    /// Does it; an error makes the whole transaction roll back.
    func run(on tables: borrowing WriterDatabase) throws(SQLiteError) -> Outcome
    /// Whether the owner's list differs after this outcome.
    func changesList(_ outcome: Outcome) -> Bool
}

struct Addition: WriteOperation {
    let owner: Owner
    let text: TaskText
    let completed: Bool
    let time: Int64
    let attempt: IdempotencyKey?
    let limit: Int

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> AddOutcome {
        if let attempt, let earlier = try database.attempts.outcome(of: attempt, at: time, owner: owner) {
            return earlier
        }
        guard let id = try database.tables.takeID(of: owner, limit: limit) else { return .full }
        let item = TaskItem(id: id, owner: owner, text: text, completed: completed, created: time, modified: time)
        try database.tables.insert(item)
        if let attempt {
            try database.attempts.put(attempt, item)
            if id > IdempotencyKey.remembered { try database.attempts.trim(of: owner) }
        }
        return .added(item)
    }

    func changesList(_ outcome: AddOutcome) -> Bool {
        switch outcome {
        case .added: true
        case .repeated, .keyReused, .full: false
        }
    }
}

struct Alteration: WriteOperation {
    let owner: Owner
    let id: Int64
    let change: TaskChange
    let expected: Set<Int64>?
    let time: Int64

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> ChangeOutcome {
        guard let item = try database.tables.find(id, of: owner) else { return .missing }
        guard expected?.contains(item.revision) ?? true else { return .conflict(item) }
        guard let changed = item.applying(change, at: time) else { return .changed(item) }
        try database.tables.update(changed)
        return .changed(changed)
    }

    func changesList(_ outcome: ChangeOutcome) -> Bool {
        switch outcome {
        case .changed: true
        case .missing, .conflict: false
        }
    }
}

struct Removal: WriteOperation {
    let owner: Owner
    let id: Int64

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> Bool {
        try database.tables.delete(id, of: owner) > 0
    }

    func changesList(_ outcome: Bool) -> Bool { outcome }
}

struct RemovalByText: WriteOperation {
    let owner: Owner
    let text: TaskText

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) -> Int {
        try database.tables.delete(text, of: owner)
    }

    func changesList(_ outcome: Int) -> Bool { outcome > 0 }
}

/// Adds as long a task as there may be, of an owner that no token can have, and removes it in the same transaction: so it
/// needs what every addition needs, and leaves no trace.
struct Touch: WriteOperation {
    let owner = Owner("")

    func run(on database: borrowing WriterDatabase) throws(SQLiteError) {
        let text = try TaskRow.text(String(repeating: "x", count: TaskText.longest))
        try database.tables.insert(
            TaskItem(id: 0, owner: owner, text: text, completed: false, created: 0, modified: 0))
        _ = try database.tables.delete(0, of: owner)
    }

    /// It was written to the disk, which shows that this works (again).
    func changesList(_ outcome: Void) -> Bool { true }
}
