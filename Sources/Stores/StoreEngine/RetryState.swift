/// What happened to one job so far, and whether it is tried again.
///
/// A write that may have been committed is never tried again: one whose commit was not confirmed, or whose session was lost.
package struct RetryState: Sendable, Equatable {
    /// Which writes may share a transaction; only those of the scope `all` share a statement.
    package enum Scope: Sendable { case all, sameOwner, alone }

    /// How often the job failed because of other transactions or sessions.
    private(set) var tries = 0
    /// Narrower after a transaction that failed, perhaps because of one of its writes.
    package private(set) var scope = Scope.all
    /// The job is not sent before this monotonic time, in nanoseconds.
    package private(set) var notBefore: UInt64 = 0

    package init() {}

    /// The state after a batch failed, which the job may have shared with others; nil if the job is refused.
    package func after(_ failure: BatchFailure, isShared: Bool) -> RetryState? {
        var next = self
        switch failure {
        case .final: return nil
        case .oneJob:
            next.scope = .alone
            return isShared ? next : nil
        case .others: return nextTry()
        case .lockedRow:
            next.scope = .sameOwner
            return next.nextTry()
        }
    }

    /// The state after a statement for several additions found no room for all: each gets a statement of its own.
    package var afterSplit: RetryState {
        var next = self
        next.scope = .sameOwner
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
        let step: UInt64 = scope == .sameOwner ? 100_000_000 : 10_000_000
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
