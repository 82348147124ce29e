private import Platform
private import Synchronization
package import Tasks

/// A read or a write that waits for a session, and the caller who waits for its outcome.
///
/// A job is a class, because a queue moves its jobs often. It never changes, so another try is another job. It is not
/// generic, because generic code that is compiled without the types of the databases takes many times as long.
package final class Job: Sendable {
    package enum Kind: Int, Sendable, CaseIterable {
        /// Reads one task.
        case find
        /// Reads a list, or changes of a list; for each owner, one at a time.
        case list
        case write

        /// The role of the sessions that take such jobs.
        var role: SessionRole { self == .write ? .writes : .reads }
    }

    /// The number of the caller, by which the job is withdrawn.
    let call: Int
    package let owner: Owner
    package let kind: Kind
    /// The share of a transaction that a write takes, in rows of tasks; see ``Tasks/TaskCommand``.
    package let weight: Int
    /// The bytes that the job carries.
    let payload: Int
    /// The time at which the caller began to wait; monotonic nanoseconds.
    package let since: UInt64
    package let retry: RetryState
    /// The callers of a list that several may share.
    let list: SharedList?
    /// Answers the caller with an error.
    package let refuse: @Sendable (StoreError) -> Void
    /// The work, in the terms of the database: the engine does not look into it.
    package let work: any JobWork

    package init(
        call: Int = 0, of owner: Owner, _ kind: Kind, weight: Int = 1, payload: Int = 0,
        since: UInt64 = SystemTime().monotonicNanoseconds, retry: RetryState = RetryState(), list: SharedList? = nil,
        _ work: any JobWork, refuse: @escaping @Sendable (StoreError) -> Void
    ) {
        self.call = call
        self.owner = owner
        self.kind = kind
        self.weight = weight
        self.payload = payload
        self.since = since
        self.retry = retry
        self.list = list
        self.work = work
        self.refuse = refuse
    }

    /// The job of the same caller for another try, or with the work that must follow.
    package func again(_ retry: RetryState, _ work: (any JobWork)? = nil) -> Job {
        Job(
            call: call, of: owner, kind, weight: weight, payload: payload, since: since, retry: retry, list: list,
            work ?? self.work, refuse: refuse)
    }

    /// The weight of writes at which a transaction is full.
    package static let mostWeight = 256
    /// The most weight of a turn, and of a short write; a long write has a transaction of its own.
    static let mostOfShort = 16
    /// The memory of a waiting call with its request, as measured, in bytes.
    package static let callBytes = 6 << 10

    var role: SessionRole { kind.role }
    var isLong: Bool { weight > Self.mostOfShort }
    /// Whether a write may have a transaction together with others.
    var sharesTransactions: Bool { !isLong && !retry.isAlone }
    var callers: Int { list?.count ?? 1 }
    /// The memory of the job and its callers.
    var bytes: Int { payload + callers * Self.callBytes }
}

/// The work of a job of one database.
package protocol JobWork: AnyObject, Sendable {}

/// The purpose of a session.
package enum SessionRole: Int, Sendable, CaseIterable { case reads, writes }

/// A list that is read once for all callers who asked for it before the read began.
///
/// Several windows or devices of one person often ask for the same list at once. A caller may share a read only until
/// the read begins, because every caller must see what was committed before its request.
package final class SharedList: Sendable {
    package let query: ListTasks
    private let callers: Mutex<[(call: Int, answer: StoreAnswer<TaskList>)]>

    init(_ query: ListTasks, for call: Int, _ answer: @escaping StoreAnswer<TaskList>) {
        self.query = query
        callers = Mutex([(call, answer)])
    }

    var count: Int { callers.withLock { $0.count } }

    /// Takes the callers of an equal list.
    func join(_ other: SharedList) {
        let others = other.callers.withLock { $0 }
        callers.withLock { $0 += others }
    }

    /// Removes a caller who has left; nil if the caller is not among those of this list.
    func remove(_ call: Int) -> StoreAnswer<TaskList>? {
        callers.withLock { callers in
            callers.firstIndex { $0.call == call }.map { callers.remove(at: $0).answer }
        }
    }

    package func answer(_ result: Result<TaskList, StoreError>) {
        for caller in callers.withLock({ $0 }) { caller.answer(result) }
    }
}
