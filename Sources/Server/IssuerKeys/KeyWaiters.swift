/// The requests that wait for a refresh because their key is unknown (V-81).
struct KeyWaiters {
    /// The reason for which a wait ended.
    enum End: Sendable, Equatable {
        case refreshEnded
        /// The wait took too long, or the server stops.
        case abandoned
    }

    private var waiting: [(deadline: Int64, continuation: CheckedContinuation<End, Never>)] = []

    var count: Int { waiting.count }

    /// The earliest deadline, which is that of the first request: all wait equally long.
    var firstDeadline: Int64? { waiting.first?.deadline }

    mutating func append(_ continuation: CheckedContinuation<End, Never>, deadline: Int64) {
        waiting.append((deadline, continuation))
    }

    /// Takes all waits, to be resumed outside of the lock.
    mutating func takeAll() -> [CheckedContinuation<End, Never>] {
        defer { waiting = [] }
        return waiting.map(\.continuation)
    }

    /// Takes the waits whose deadline has passed, to be resumed outside of the lock.
    mutating func takeOverdue(now: Int64) -> [CheckedContinuation<End, Never>] {
        let overdue = waiting.prefix { $0.deadline <= now }
        waiting.removeFirst(overdue.count)
        return overdue.map(\.continuation)
    }
}
