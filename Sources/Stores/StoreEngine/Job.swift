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
        /// Reads a list; of each owner one list is read at a time.
        case list
        case write
    }

    /// The number of the caller, by which the job is withdrawn.
    let call: Int
    package let owner: Owner
    package let kind: Kind
    /// How much of a transaction the job takes, in rows of tasks; see ``Tasks/TaskCommand``.
    package let weight: Int
    /// What the job carries, in bytes.
    let payload: Int
    /// When the caller began to wait; monotonic nanoseconds.
    package let since: UInt64
    package let retry: RetryState
    /// The callers of a list that several may share.
    let list: SharedList?
    /// Answers the caller with an error.
    package let refuse: @Sendable (StoreError) -> Void
    /// What to do, in the terms of the database: the engine does not look into the work.
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

    /// The weight of its writes at which a transaction is full.
    package static let mostWeight = 256
    /// The weight of a read of many tasks.
    package static let listWeight = 16
    /// The most weight of a short write; a long one has a transaction of its own.
    static let mostOfShort = 16
    /// The memory of a waiting call with its request, as measured, in bytes.
    package static let callBytes = 6 << 10

    /// The role of the sessions that take the job.
    var role: SessionRole { kind == .write ? .writes : .reads }
    var isLong: Bool { weight > Self.mostOfShort }
    /// What the job takes of its owner's turns: a list counts as so many reads of one task.
    var charge: Int { kind == .list ? Self.listWeight : weight }
    var callers: Int { list?.count ?? 1 }
    /// The memory of the job and its callers.
    var bytes: Int { payload + callers * Self.callBytes }
}

/// The work of a job of one database.
package protocol JobWork: AnyObject, Sendable {}

/// What a session is for.
package enum SessionRole: Int, Sendable, CaseIterable { case reads, writes }

/// What happened to one job so far, and whether it is tried again.
///
/// A write that may have been committed is never tried again: one whose commit was not confirmed, or whose session was
/// lost.
package struct RetryState: Sendable, Equatable {
    /// Which writes may share a transaction; only those of the sharing `all` share a statement.
    package enum Sharing: Sendable { case all, sameOwner, alone }

    /// How often the job failed because of other transactions or sessions.
    private(set) var tries = 0
    /// Narrower after a transaction that failed, perhaps because of one of its writes.
    package private(set) var sharing = Sharing.all
    /// The job is not sent before this monotonic time, in nanoseconds.
    package private(set) var notBefore: UInt64 = 0

    package init() {}

    /// The state after a batch failed, which the job may have shared with others; nil if the job is refused.
    package func after(_ failure: BatchFailure, isShared: Bool) -> RetryState? {
        var next = self
        switch failure {
        case .final: return nil
        case .oneJob:
            next.sharing = .alone
            return isShared ? next : nil
        case .others: return nextTry()
        case .lockedRow:
            next.sharing = .sameOwner
            return next.nextTry()
        }
    }

    /// The state after a statement for several additions found no room for all: each gets a statement of its own.
    package var afterSplit: RetryState {
        var next = self
        next.sharing = .sameOwner
        return next
    }

    /// The state after other transactions or sessions were in the way; nil after too many tries.
    package func nextTry(atMost most: Int = 10) -> RetryState? {
        guard tries < most else { return nil }
        var next = self
        next.tries += 1
        return next
    }

    /// The state with a short pause that is not in step with other servers, and longer where a row stays locked.
    package func paused(from now: UInt64, using random: inout some RandomNumberGenerator) -> RetryState {
        guard tries > 0 else { return self }
        var next = self
        let step: UInt64 = sharing == .sameOwner ? 100_000_000 : 10_000_000
        next.notBefore = now + UInt64.random(in: 1_000_000...(UInt64(min(tries, 6)) * step), using: &random)
        return next
    }

    /// The time before the next attempt to open a session, in nanoseconds: none after a loss, then a tenth of a second,
    /// doubling up to two.
    package static func reconnectPause(afterFailures failures: Int) -> UInt64 {
        failures == 0 ? 0 : min(UInt64(50_000_000) << UInt64(min(failures, 6)), longestReconnectPause)
    }

    static let longestReconnectPause: UInt64 = 2_000_000_000
}

/// Why nothing of a batch was kept, as far as another try depends on the reason.
package enum BatchFailure: Sendable {
    /// Another try cannot succeed, or might do twice what may have been committed.
    case final
    /// One of the jobs is the cause, so each is tried alone.
    case oneJob
    /// Other transactions or sessions were in the way.
    case others
    /// Another program keeps the row of an owner locked, so other owners must not wait with this one.
    case lockedRow
}

/// A list that is read once for all callers who asked for it before the read began.
///
/// Several windows or devices of one person often ask for the same list at once. A caller may share a read only until
/// the read begins, because every caller must see what was committed before its request.
package final class SharedList: Sendable {
    package let query: ListTasks
    private let callers: Mutex<[(call: Int, reply: Reply<TaskList>)]>

    init(_ query: ListTasks, for call: Int, _ reply: Reply<TaskList>) {
        self.query = query
        callers = Mutex([(call, reply)])
    }

    var count: Int { callers.withLock { $0.count } }

    /// Takes the callers of an equal list.
    func join(_ other: SharedList) {
        let others = other.callers.withLock { $0 }
        callers.withLock { $0 += others }
    }

    /// Removes a caller who has left; nil if the caller is not among those of this list.
    func remove(_ call: Int) -> Reply<TaskList>? {
        callers.withLock { callers in
            callers.firstIndex { $0.call == call }.map { callers.remove(at: $0).reply }
        }
    }

    package func answer(_ result: Result<TaskList, StoreError>) {
        for caller in callers.withLock({ $0 }) { caller.reply.answer(result) }
    }
}
