import Basics
import Platform
import Synchronization
import Tasks

/// A token bucket for each person: this many requests a second, twice that at once.
///
/// Bounded: a new person has a full bucket, so full buckets are forgotten whenever the table has grown.
final class RateLimiter: Sendable {
    private struct Table {
        var buckets: [Owner: TokenBucket] = [:]
        var sweepAbove = 10_000
    }

    private let perSecond: Int
    private let time: any TimeSource
    private let table = Mutex(Table())

    init(perSecond: Int, time: any TimeSource) {
        self.perSecond = perSecond
        self.time = time
    }

    /// Takes one request from a person's bucket: no time to wait; if it is empty, the seconds until there is one again.
    func secondsToWait(_ person: Owner) -> Int? {
        let now = Int64(time.monotonicNanoseconds)
        return table.withLock { table -> Int? in
            sweep(&table, now)
            var bucket = table.buckets[person] ?? fullBucket(now)
            let isTaken = bucket.take(now: now)
            table.buckets[person] = bucket
            return isTaken ? nil : Int((bucket.pause(now: now) + 999_999_999) / 1_000_000_000)
        }
    }

    /// How many persons it remembers.
    var count: Int { table.withLock { $0.buckets.count } }

    private func fullBucket(_ now: Int64) -> TokenBucket {
        TokenBucket(capacity: 2 * perSecond, refill: 1_000_000_000 / Int64(perSecond), now: now)
    }

    private func sweep(_ table: inout Table, _ now: Int64) {
        guard table.buckets.count > table.sweepAbove else { return }
        table.buckets = table.buckets.filter { !$0.value.isFull(now: now) }
        table.sweepAbove = max(10_000, 2 * table.buckets.count)
    }
}
