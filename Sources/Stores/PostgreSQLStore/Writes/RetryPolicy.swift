import PostgreSQL

/// Everything that is decided about trying again: what happened to one request so far, and what follows from it.
///
/// Never tried again is a write that may have been committed: one whose COMMIT was not confirmed, or whose session was lost.
struct RetryPolicy: Sendable, Equatable {
    /// Which writes may share a transaction.
    enum BatchScope: Sendable { case all, sameOwner, alone }

    /// How often it failed because of other transactions or sessions.
    private(set) var tries = 0
    /// Narrower after a transaction that one of its writes may have failed.
    private(set) var scope = BatchScope.all
    /// An addition gets a statement of its own: there was no room for all that shared its last one.
    private(set) var isSplit = false
    /// Not to be sent before this monotonic time, in nanoseconds.
    private(set) var notBefore: UInt64 = 0

    static let mostTries = 10
    /// A read is repeated within the deadline of its request.
    static let mostReadTries = 5

    /// After a transaction that failed at its COMMIT or before, shared with other writes or not; nil: the write is refused.
    ///
    /// After a COMMIT that failed the outcome is in doubt (of foreign partitions some may have committed), except after a
    /// serialization failure.
    func afterFailure(_ kind: PostgreSQLError.Kind, isCommit: Bool, isShared: Bool) -> RetryPolicy? {
        guard !isCommit || kind == .retryable else { return nil }
        var next = self
        switch kind {
        case .retryable, .transactionFailed, .unprepared: return nextTry
        case .locked:
            next.scope = .sameOwner
            return next.nextTry
        case .cancelled, .full, .forbidden, .other:
            // Only one of them is the cause: each gets a transaction of its own.
            next.scope = .alone
            return isShared ? next : nil
        case .disconnected, .exhausted, .readOnly: return nil
        }
    }

    /// After a statement for several additions that found no room for all of them.
    var afterSplit: RetryPolicy {
        var next = self
        next.isSplit = true
        return next
    }

    /// After other transactions were in the way; nil: too often.
    var nextTry: RetryPolicy? {
        guard tries < Self.mostTries else { return nil }
        var next = self
        next.tries += 1
        return next
    }

    /// After a read that failed; nil: its callers get the error.
    func afterFailedRead(_ kind: PostgreSQLError.Kind) -> RetryPolicy? {
        switch kind {
        case .retryable, .unprepared, .transactionFailed: tries < Self.mostReadTries ? nextTry : nil
        case .locked, .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other: nil
        }
    }

    /// Waits a little, and not in step with other servers; longer where a row stays locked.
    mutating func pause(from now: UInt64, using random: inout some RandomNumberGenerator) {
        guard tries > 0 else { return }
        let step: UInt64 = scope == .sameOwner ? 100_000_000 : 10_000_000
        notBefore = now + UInt64.random(in: 1_000_000...(UInt64(min(tries, 6)) * step), using: &random)
    }

    /// How long to wait for the next attempt to connect, in nanoseconds: not at all the first time, then a tenth of a second,
    /// doubling up to two.
    static func reconnectPause(afterFailures failures: Int) -> UInt64 {
        failures == 0 ? 0 : min(UInt64(50) << UInt64(min(failures, 6)), 2000) * 1_000_000
    }
}
