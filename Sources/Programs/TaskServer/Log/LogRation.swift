import Basics
import Synchronization

/// Limits the lines of each reason, so that a flood of refusals cannot fill the disk (V-132).
///
/// Each reason has a bucket of 20 lines, refilled by two a second. The next line says how many lines were left out.
final class LogRation: Sendable {
    private struct Lines {
        var bucket: TokenBucket
        var leftOut = 0

        init(now: Int64) { bucket = TokenBucket(capacity: 20, refill: 500_000_000, now: now) }

        /// The number of lines that were left out before this one; nil if this one is left out, too.
        mutating func take(now: Int64) -> Int? {
            guard bucket.take(now: now) else {
                leftOut += 1
                return nil
            }
            defer { leftOut = 0 }
            return leftOut
        }
    }

    /// The most buckets; reasons beyond them share one.
    ///
    /// Reasons are texts of the program and of libmicrohttpd, so there are few; this bounds the table if that changes.
    private static let most = 256

    private let reasons = Mutex<[String: Lines]>([:])

    /// The number of lines that were left out before this one, at a monotonic time; nil if this one is left out, too.
    func take(_ reason: String, at nanoseconds: UInt64) -> Int? {
        let now = Int64(nanoseconds)
        return reasons.withLock { reasons in
            let reason = reasons.count < Self.most || reasons[reason] != nil ? reason : "other"
            return reasons[reason, default: Lines(now: now)].take(now: now)
        }
    }
}

/// Limits how often a lasting failure is logged: again after ten minutes, or for another reason after one minute.
final class RepeatedFailures: Sendable {
    private struct Failure {
        var reason: String
        var logged: UInt64
        var leftOut = 0
    }

    private static let minute: UInt64 = 60_000_000_000

    private let failures = Mutex<[String: Failure]>([:])

    /// The number of failures that were left out before this one, at a monotonic time; nil if this one is left out.
    func take(_ source: String, _ reason: String, at now: UInt64) -> Int? {
        failures.withLock { failures in
            if var last = failures[source], now < last.logged &+ Self.minute * (last.reason == reason ? 10 : 1) {
                last.leftOut += 1
                failures[source] = last
                return nil
            }
            let leftOut = failures[source]?.leftOut ?? 0
            failures[source] = Failure(reason: reason, logged: now)
            return leftOut
        }
    }

    /// The source works again; its next failure is logged at once.
    func end(of source: String) {
        failures.withLock { $0[source] = nil }
    }
}
