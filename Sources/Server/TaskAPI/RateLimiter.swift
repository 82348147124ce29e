import Platform
import Synchronization

/// A bucket of tokens for each person: so many requests a second, twice that at once.
///
/// Bounded: full buckets are what a stranger has, so they are forgotten whenever the table has grown.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var filled: UInt64
    }

    private struct Table {
        var buckets: [String: Bucket] = [:]
        var sweepAbove = 10_000
    }

    private let perSecond: Double
    private let time: any TimeSource
    private let table = Mutex(Table())

    init(perSecond: Int, time: any TimeSource) {
        self.perSecond = Double(perSecond)
        self.time = time
    }

    /// Takes one request from a person's bucket; if it is empty, the seconds until there is one again.
    func refuses(_ person: String) -> Int? {
        let now = time.monotonicNanoseconds
        return table.withLock { table -> Int? in
            sweep(&table, now)
            let old = table.buckets[person] ?? Bucket(tokens: 2 * perSecond, filled: now)
            let tokens = level(of: old, at: now)
            guard tokens >= 1 else { return Int(((1 - tokens) / perSecond).rounded(.up)) }
            table.buckets[person] = Bucket(tokens: tokens - 1, filled: now)
            return nil
        }
    }

    private func sweep(_ table: inout Table, _ now: UInt64) {
        guard table.buckets.count > table.sweepAbove else { return }
        table.buckets = table.buckets.filter { level(of: $0.value, at: now) < 2 * perSecond }
        table.sweepAbove = max(10_000, 2 * table.buckets.count)
    }

    private func level(of bucket: Bucket, at now: UInt64) -> Double {
        let seconds = Double(now - min(now, bucket.filled)) / 1e9
        return min(2 * perSecond, bucket.tokens + seconds * perSecond)
    }
}
