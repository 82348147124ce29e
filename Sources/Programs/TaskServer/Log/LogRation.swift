import Synchronization

/// How many lines each reason may fill, so that a flood of refusals cannot fill the disk (V-132).
///
/// Each reason has a bucket of 20 lines, refilled by two a second; what was left out is counted into the next line.
final class LogRation: Sendable {
    private struct Bucket {
        var lines = 20.0
        var filled: UInt64
        var leftOut = 0
    }

    /// The most buckets; reasons beyond them share one.
    ///
    /// Reasons are texts of the program and of libmicrohttpd, so there are few; this bounds the table if that changes.
    private static let most = 256

    private let buckets = Mutex<[String: Bucket]>([:])

    /// Whether a line for this reason may be written at a monotonic time: how many were left out before it, or nil.
    func take(_ reason: String, at now: UInt64) -> Int? {
        buckets.withLock { buckets in
            let reason = buckets.count < Self.most || buckets[reason] != nil ? reason : "other"
            var bucket = buckets[reason] ?? Bucket(filled: now)
            let seconds = Double(now - min(now, bucket.filled)) / 1e9
            bucket.lines = min(20, bucket.lines + 2 * seconds)
            bucket.filled = now
            defer { buckets[reason] = bucket }
            guard bucket.lines >= 1 else {
                bucket.leftOut += 1
                return nil
            }
            bucket.lines -= 1
            defer { bucket.leftOut = 0 }
            return bucket.leftOut
        }
    }
}
