import Basics
import HTTP
import Platform
import Synchronization
import Tasks

/// A token bucket for each person: this many requests a second, twice that at once.
///
/// The table is bounded: a new person has a full bucket, so full buckets are forgotten whenever the table has grown.
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

    /// Takes one request from a person's bucket, if there is one.
    func take(_ person: Owner) -> RateState {
        let now = Int64(time.monotonicNanoseconds)
        return table.withLock { table in
            sweep(&table, now)
            var bucket = table.buckets[person] ?? fullBucket(now)
            let isTaken = bucket.take(now: now)
            table.buckets[person] = bucket
            let wait = Int((bucket.pause(now: now) + 999_999_999) / 1_000_000_000)
            return RateState(perSecond: perSecond, remaining: bucket.count, secondsToWait: isTaken ? nil : wait)
        }
    }

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

struct RateState: Sendable {
    let perSecond: Int
    /// The number of requests that the person may make at once.
    let remaining: Int
    /// How long the refused person has to wait; nil if the request was admitted.
    let secondsToWait: Int?

    /// The fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10).
    ///
    /// A full bucket has the requests of two seconds, so two seconds are the window of the policy.
    var fields: FieldLines {
        let quota = 2 * perSecond
        return [
            "RateLimit-Policy": "\"person\";q=\(quota);w=2",
            "RateLimit": "\"person\";r=\(remaining);t=\((quota - remaining + perSecond - 1) / perSecond)",
        ]
    }
}
