import Basics
import Testing

@Suite("A token bucket gives its capacity at once, and then one permit for each refill", .timeLimit(.minutes(15)))
struct TokenBucketTests {
    @Test func `Permits grow back one by one, up to the capacity`() {
        var bucket = TokenBucket(capacity: 2, refill: 10, now: 0)
        #expect(bucket.isFull(now: 0) && bucket.pause(now: 0) == 0)
        #expect(bucket.take(now: 100) && bucket.take(now: 100) && !bucket.take(now: 100))
        #expect(bucket.pause(now: 103) == 7 && !bucket.take(now: 109))
        #expect(bucket.take(now: 110) && !bucket.take(now: 110))
        #expect(!bucket.isFull(now: 129) && bucket.isFull(now: 130))
        #expect(bucket.take(now: 1000) && bucket.take(now: 1000) && !bucket.take(now: 1000))
    }

    @Test func `A part of a permit is not lost when one is taken`() {
        var bucket = TokenBucket(capacity: 2, refill: 10, now: 0)
        #expect(bucket.take(now: 0) && bucket.take(now: 0))
        #expect(bucket.take(now: 15) && bucket.pause(now: 15) == 5 && bucket.take(now: 20))
    }

    @Test func `A clock that goes back gives nothing`() {
        var bucket = TokenBucket(capacity: 1, refill: 10, now: 50)
        #expect(bucket.take(now: 50) && !bucket.take(now: 0) && !bucket.take(now: 59) && bucket.take(now: 60))
    }
}
