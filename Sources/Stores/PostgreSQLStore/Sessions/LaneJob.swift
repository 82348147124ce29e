import Tasks

/// A read or a write that waits in a lane, with its caller.
enum LaneJob: Sendable {
    case read(any QueuedRead)
    case write(any QueuedWrite)

    var read: (any QueuedRead)? { if case .read(let read) = self { read } else { nil } }
    var write: (any QueuedWrite)? { if case .write(let write) = self { write } else { nil } }
    var isWrite: Bool { write != nil }

    var owner: Owner? {
        switch self {
        case .read(let read): read.statement.owner
        case .write(let write): write.owner
        }
    }

    /// When its caller began to wait; monotonic nanoseconds.
    var since: UInt64 {
        switch self {
        case .read(let read): read.since
        case .write(let write): write.since
        }
    }

    /// See ``RetryPolicy/notBefore``.
    var notBefore: UInt64 {
        switch self {
        case .read(let read): read.retry.notBefore
        case .write(let write): write.retry.notBefore
        }
    }

    func refuse(_ error: StoreError) {
        switch self {
        case .read(let read): read.refuse(error)
        case .write(let write): write.refuse(error)
        }
    }
}
