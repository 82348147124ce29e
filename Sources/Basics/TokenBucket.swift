/// A token bucket, whose permits are taken at once or spread out, and grow back with time.
///
/// The unit of time is free, if `refill` and `now` have the same.
package struct TokenBucket: Sendable {
    private let capacity: Int
    /// The time in which one permit grows.
    private let refill: Int64
    private var permits: Int
    /// The number of permits after the last ``take(now:)``.
    package var count: Int { permits }
    /// The time from which the next permit grows.
    private var growingSince: Int64

    package init(capacity: Int, refill: Int64, now: Int64) {
        self.capacity = capacity
        self.refill = refill
        permits = capacity
        growingSince = now
    }

    /// Takes a permit; returns false if there is none.
    package mutating func take(now: Int64) -> Bool {
        grow(now)
        guard permits > 0 else { return false }
        // A full bucket does not grow, so growth begins with the first permit taken.
        if permits == capacity { growingSince = now }
        permits -= 1
        return true
    }

    package func isFull(now: Int64) -> Bool {
        var later = self
        later.grow(now)
        return later.permits == capacity
    }

    /// Returns the time until there is a permit.
    package func pause(now: Int64) -> Int64 {
        permits > 0 ? 0 : max(0, growingSince + refill - now)
    }

    private mutating func grow(_ now: Int64) {
        guard permits < capacity, now > growingSince else { return }
        let grown = min(Int64(capacity - permits), (now - growingSince) / refill)
        permits += Int(grown)
        growingSince += grown * refill
    }
}
