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
            var lines = reasons[reason] ?? Lines(now: now)
            defer { reasons[reason] = lines }
            guard lines.bucket.take(now: now) else {
                lines.leftOut += 1
                return nil
            }
            defer { lines.leftOut = 0 }
            return lines.leftOut
        }
    }
}
