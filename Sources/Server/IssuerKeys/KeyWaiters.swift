/// The requests that wait for a fetch because their key is unknown (V-81).
struct KeyWaiters {
    /// Why a wait ended.
    enum End: Sendable, Equatable {
        /// The fetch is over.
        case landed
        /// It took too long, or the server stops.
        case gaveUp
    }

    private var waiting: [(deadline: Int64, continuation: CheckedContinuation<End, Never>)] = []

    var count: Int { waiting.count }

    /// The deadlines come in the order of their requests, so the first is the earliest.
    var firstDeadline: Int64? { waiting.first?.deadline }

    mutating func append(_ continuation: CheckedContinuation<End, Never>, deadline: Int64) {
        waiting.append((deadline, continuation))
    }

    /// All, to be resumed outside of the lock.
    mutating func takeAll() -> [CheckedContinuation<End, Never>] {
        defer { waiting = [] }
        return waiting.map(\.continuation)
    }

    /// Those whose time is over.
    mutating func takeExpired(now: Int64) -> [CheckedContinuation<End, Never>] {
        let expired = waiting.prefix { $0.deadline <= now }
        waiting.removeFirst(expired.count)
        return expired.map(\.continuation)
    }
}
