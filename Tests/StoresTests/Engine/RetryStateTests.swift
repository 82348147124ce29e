import Support
import Testing

@testable import StoreEngine

@Suite("What is tried again")
struct RetryStateTests {
    @Test func `A pause grows with the tries, is longer at a locked row, and is none before the first`() throws {
        var random = SeededRandom()
        func pause(_ tries: Int, _ failure: BatchFailure) -> UInt64? {
            var retry = RetryState()
            for _ in 0..<tries { retry = retry.after(failure, isShared: false) ?? retry }
            return retry.pause(using: &random)
        }
        #expect(pause(0, .others) == nil)
        for tries in 1...10 {
            let longest = UInt64(min(tries, 6)) * 10_000_000
            let (others, row) = (
                (0..<50).compactMap { _ in pause(tries, .others) },
                (0..<50).compactMap { _ in pause(tries, .lockedRow) }
            )
            #expect(others.count == 50 && others.allSatisfy { (1_000_000...longest).contains($0) })
            #expect(row.allSatisfy { (1_000_000...10 * longest).contains($0) } && row.contains { $0 > longest })
        }
    }

    @Test func `A job that failed with others is tried alone, and refused if it fails so again`() throws {
        let first = try #require(RetryState().after(.oneJob, isShared: true))
        #expect(first.isAlone)
        #expect(first.after(.oneJob, isShared: false) == nil)
        #expect(RetryState().after(.final, isShared: true) == nil)
    }

    @Test(arguments: [BatchFailure.others, .lockedRow])
    func `A job in whose way others are is tried ten times`(failure: BatchFailure) {
        let tries = sequence(first: RetryState()) { $0.after(failure, isShared: true) }
        #expect(Array(tries.prefix(20)).count == 11)
    }

    @Test func `A lost session is made again at once, then after a tenth of a second, doubling up to two`() {
        let pauses = (0...8).map { RetryState.reconnectPause(afterFailures: $0) / 1_000_000 }
        #expect(pauses == [0, 100, 200, 400, 800, 1600, 2000, 2000, 2000])
    }
}
