import StoreEngine
import Support
import Testing

@Suite("What is tried again")
struct RetryStateTests {
    @Test func `A pause grows with the tries, is longer at a locked row, and is none before the first`() {
        var random = SeededRandom()
        func pause(_ tries: Int, _ failure: BatchFailure) -> UInt64 {
            var retry = RetryState()
            for _ in 0..<tries { retry = retry.after(failure, isShared: false) ?? retry }
            return retry.paused(from: 1_000_000_000, using: &random).notBefore
        }
        #expect(pause(0, .others) == 0)
        for tries in 1...10 {
            let longest = UInt64(min(tries, 6))
            let pauses = (0..<50).map { _ in (others: pause(tries, .others), row: pause(tries, .lockedRow)) }
            for (others, row) in pauses {
                #expect((1_001_000_000...1_000_000_000 + longest * 10_000_000).contains(others))
                #expect((1_001_000_000...1_000_000_000 + longest * 100_000_000).contains(row))
            }
            #expect(pauses.contains { $0.row > 1_000_000_000 + longest * 10_000_000 })
        }
    }

    @Test func `A lost session is made again at once, then after a tenth of a second, doubling up to two`() {
        let pauses = (0...8).map { RetryState.reconnectPause(afterFailures: $0) / 1_000_000 }
        #expect(pauses == [0, 100, 200, 400, 800, 1600, 2000, 2000, 2000])
    }
}
