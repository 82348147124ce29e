import Tasks

/// A read that waits for the driving thread.
enum ReadRequest: Sendable {
    case list(TaskQuery, Owner, Reply<TaskList>)
    case find(Int64, Owner, Reply<TaskItem?>)

    func refuse(_ error: StoreError) {
        switch self {
        case .list(_, _, let reply): reply.answer(.failure(error))
        case .find(_, _, let reply): reply.answer(.failure(error))
        }
    }
}

/// A write that waits for the driving thread.
enum WriteRequest: Sendable {
    case add(NewTask, Owner, Reply<AddOutcome>)
    case change(TaskAlteration, Owner, Reply<ChangeOutcome>)
    case remove(Int64, Owner, Reply<Bool>)
    case removeAll(TaskText, Owner, Reply<Int>)
    case touch(Reply<Void>)

    var owner: Owner {
        switch self {
        case .add(_, let owner, _), .change(_, let owner, _), .remove(_, let owner, _), .removeAll(_, let owner, _):
            owner
        case .touch: Owner("")
        }
    }

    func refuse(_ error: StoreError) {
        switch self {
        case .add(_, _, let reply): reply.answer(.failure(error))
        case .change(_, _, let reply): reply.answer(.failure(error))
        case .remove(_, _, let reply): reply.answer(.failure(error))
        case .removeAll(_, _, let reply): reply.answer(.failure(error))
        case .touch(let reply): reply.answer(.failure(error))
        }
    }
}

/// What is to be added.
struct NewTask: Sendable {
    let text: TaskText
    let completed: Bool
    let time: Int64
    let attempt: IdempotencyKey?
    let limit: Int

    func item(_ id: Int64, of owner: Owner) -> TaskItem {
        TaskItem(id: id, owner: owner, text: text, completed: completed, created: time, modified: time)
    }
}

/// What is to be changed.
struct TaskAlteration: Sendable {
    let id: Int64
    let change: TaskChange
    let expected: Set<Int64>?
    let time: Int64
}

/// A write with what happened to it so far.
struct QueuedWrite: Sendable {
    /// Who may share its transaction.
    enum Company: Sendable { case everybody, sameOwner, nobody }

    let request: WriteRequest
    /// It waits since this monotonic time.
    let since: UInt64
    /// How often it was tried and came to nothing for the sake of others.
    var tries = 0
    /// Fewer, when a transaction failed for the sake of one in it.
    var company = Company.everybody
    /// It gets a statement of its own: there was no room for all that shared its last one.
    var isApart = false
    /// How often it found no row of the owner with room: there may be none yet, or another server made it at that moment.
    var timesWithoutRoom = 0
    /// Not to be tried again before this monotonic time.
    var notBefore: UInt64 = 0
}
