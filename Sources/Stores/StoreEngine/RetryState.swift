/// The failures of one job so far, which decide whether the job is tried again.
///
/// A write that may have been committed is never tried again: its commit was not confirmed, or its session was lost.
package struct RetryState: Sendable, Equatable {
    /// The number of failures because of other transactions or sessions.
    private(set) var tries = 0
    /// Whether the job is tried without others, because it failed together with them.
    package private(set) var isAlone = false

    package init() {}

    package var alone: RetryState {
        var next = self
        next.isAlone = true
        return next
    }

    /// The state after a batch failed, which the job may have shared with others; nil if the job is refused.
    package func after(_ failure: BatchFailure, isShared: Bool) -> RetryState? {
        switch failure {
        case .final: nil
        case .oneJob: isShared ? alone : nil
        case .others: nextTry()
        case .lockedRow: alone.nextTry()
        }
    }

    /// The state after other transactions or sessions were in the way; nil after too many tries.
    package func nextTry(atMost most: Int = 10) -> RetryState? {
        guard tries < most else { return nil }
        var next = self
        next.tries += 1
        return next
    }

    /// A pause before the next try, in nanoseconds: random, so that servers do not keep in step, and longer for a job
    /// that is alone, whose row may stay locked.
    func pause(using random: inout some RandomNumberGenerator) -> UInt64? {
        guard tries > 0 else { return nil }
        let step: UInt64 = isAlone ? 100_000_000 : 10_000_000
        return UInt64.random(in: 1_000_000...UInt64(min(tries, 6)) * step, using: &random)
    }

    /// The time before the next attempt to open a session, in nanoseconds.
    ///
    /// The time is zero after a loss, then a tenth of a second, and doubles up to two seconds.
    static func reconnectPause(afterFailures failures: Int) -> UInt64 {
        failures == 0 ? 0 : min(UInt64(50_000_000) << UInt64(min(failures, 6)), longestReconnectPause)
    }

    static let longestReconnectPause: UInt64 = 2_000_000_000
}

/// The reason why nothing of a batch was kept, as far as another try depends on it.
package enum BatchFailure: Sendable {
    /// Another try cannot succeed, or might repeat a change that was committed.
    case final
    /// One of the jobs is the cause, so each is tried alone.
    case oneJob
    /// Other transactions or sessions were in the way.
    case others
    /// Another program keeps the row of an owner locked, so each job is tried alone, after a longer pause.
    case lockedRow
}
