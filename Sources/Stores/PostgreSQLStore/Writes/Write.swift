import Tasks

/// A change that waits for its transaction, and the caller that waits for its outcome.
struct Write: Sendable {
    enum Command: Sendable {
        case add(AddTask)
        case change(ChangeTask)
        case changeAll(ChangeTasks)
        case remove(RemoveTask)
        case removeText(RemoveTasksWithText)
        case removeCompleted(RemoveCompletedTasks)
        /// Shows that the database takes writes.
        case check

        var owner: Owner {
            switch self {
            case .add(let command): command.owner
            case .change(let command): command.owner
            case .changeAll(let command): command.owner
            case .remove(let command): command.owner
            case .removeText(let command): command.owner
            case .removeCompleted(let command): command.owner
            // No token can have it.
            case .check: Owner("")
            }
        }

        /// How much of a transaction it takes: the number of tasks that it names, at least 1.
        var weight: Int {
            if case .changeAll(let command) = self { max(command.changes.count, 1) } else { 1 }
        }
    }

    /// What came of it, durably.
    enum Outcome: Sendable, Equatable {
        case addition(AddOutcome)
        case change(ChangeOutcome)
        case changes(ChangeAllOutcome)
        case removal(RemoveOutcome)
        /// How many tasks.
        case removals(Int)
        case checked
    }

    /// What becomes of a write after its transaction.
    enum Verdict: Sendable, Equatable {
        case answer(Outcome)
        case refuse(StoreError)
        case retry(RetryPolicy)

        var isRetry: Bool { if case .retry = self { true } else { false } }
    }

    let command: Command
    let caller: Caller<Outcome>
    let owner: Owner
    let ownerHash: Int
    /// When it began to wait; monotonic nanoseconds.
    var since: UInt64 = 0
    var retry = RetryPolicy()

    init(_ command: Command, for caller: Caller<Outcome>) {
        self.command = command
        self.caller = caller
        owner = command.owner
        ownerHash = owner.hashValue
    }
}
