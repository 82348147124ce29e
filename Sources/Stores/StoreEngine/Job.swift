package import Tasks
private import Platform

/// A read or a write that waits for a session, and the caller who waits for its outcome.
///
/// A job is a class, because a queue moves its jobs often. It never changes, so another try is another job. It is not
/// generic, because generic code that is compiled without the types of the databases takes many times as long.
package final class Job: Sendable {
    package enum Kind: Sendable {
        /// Reads one task.
        case find
        /// Reads a list; of each owner one list is read at a time.
        case list
        case write
    }

    package let owner: Owner
    package let kind: Kind
    /// How much of a transaction the job takes, in rows of tasks; see ``StoreCommand``.
    package let weight: Int
    /// When the caller began to wait; monotonic nanoseconds.
    package let since: UInt64
    package let retry: RetryState
    /// A closure that the engine calls each time before a session runs the job.
    let begin: @Sendable () -> Void
    /// Answers the caller with an error.
    package let refuse: @Sendable (StoreError) -> Void
    /// What to do, in the terms of the database: only its sessions know the type.
    package let work: any JobWork

    package init(
        of owner: Owner, _ kind: Kind, weight: Int = 1, since: UInt64 = SystemTime().monotonicNanoseconds,
        retry: RetryState = RetryState(), _ work: any JobWork, begin: @escaping @Sendable () -> Void = {},
        refuse: @escaping @Sendable (StoreError) -> Void
    ) {
        self.owner = owner
        self.kind = kind
        self.weight = weight
        self.since = since
        self.retry = retry
        self.work = work
        self.begin = begin
        self.refuse = refuse
    }

    /// The job of the same caller for another try, or with the work that must follow.
    package func again(_ retry: RetryState, _ work: (any JobWork)? = nil) -> Job {
        Job(
            of: owner, kind, weight: weight, since: since, retry: retry, work ?? self.work, begin: begin, refuse: refuse
        )
    }

    /// The weight of its writes at which a transaction is full.
    package static let mostWeight = 256

    var line: Line { kind == .write ? .writes : .reads }
}

/// The work of a job of one database.
package protocol JobWork: AnyObject, Sendable {}

/// The two kinds of work that have sessions of their own.
package enum Line: Int, Sendable, CaseIterable { case reads, writes }
