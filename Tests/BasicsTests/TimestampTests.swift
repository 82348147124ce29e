import Basics
import Testing

@Suite("Times are shown as RFC 3339 with milliseconds")
struct TimestampTests {
    @Test func `Moments beyond four digits of a year are shown as the first or the last`() {
        #expect(Timestamp(milliseconds: .max).text == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).text == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp(seconds: .min).text == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp(seconds: .max).text == "9999-12-31T23:59:59.000Z")
        #expect(Timestamp(seconds: 1_472_575_720) == Timestamp(milliseconds: 1_472_575_720_000))
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_472_575_720_123, "2016-08-30T16:48:40.123Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"), (4_107_456_000_000, "2100-02-28T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599_999, "2024-12-31T23:59:59.999Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `Known moments are written and read`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).text == text)
        #expect(Timestamp(parsing: text)?.milliseconds == milliseconds)
    }

    @Test func `The days of four centuries follow each other`() {
        var (year, month, day) = (1970, 1, 1)
        for index in 0..<146_097 {
            let text = Timestamp(milliseconds: Int64(index) * 86_400_000).text
            let expected = [pad(year, 4), pad(month, 2), pad(day, 2)].joined(separator: "-")
            guard text.hasPrefix(expected) else {
                Issue.record("day \(index): \(text), not \(expected)")
                return
            }
            day += 1
            if day > length(of: month, year) { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
        #expect((year, month, day) == (2370, 1, 1))
    }

    @Test(arguments: [
        "", "2016-08-30", "2016-08-30T16:48:40Z", "2016-13-30T16:48:40.123Z", "2016-00-30T16:48:40.123Z",
        "2015-02-29T16:48:40.123Z", "2016-08-30T24:00:00.000Z", "2016-08-30 16:48:40.123Z",
        "2016-08-30T16:48:40.123+", "2016-08-30T16:60:40.123Z", "+016-08-30T16:48:40.123Z",
    ])
    func `Other texts are no moments`(text: String) {
        #expect(Timestamp(parsing: text) == nil)
    }

    private func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: width - digits.count) + digits
    }

    private func length(of month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}

@Suite("A token bucket gives its capacity at once, and then one permit for each refill")
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
