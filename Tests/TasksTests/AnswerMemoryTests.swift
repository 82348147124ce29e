import Synchronization
import Tasks
import Testing

@Suite("The memory of long lists is shared by owners")
struct AnswerMemoryTests {
    private func owner(_ number: Int) -> Owner { Owner("owner-\(number)") }

    @Test func `An owner leaves three quarters to others, and something is always free`() {
        let memory = AnswerMemory(limit: 1_000_000)
        var leases: [AnswerLease] = []
        for number in 0..<20 {
            var mine = 0
            while let lease = memory.lease(1000, for: owner(number)) {
                leases.append(lease)
                mine += 1000
            }
            #expect(mine > 0 && mine <= 250_000)
            if number == 0 { #expect(mine >= 249_000) }
        }
        #expect(memory.statistics.held == leases.count * 1000)
        #expect(memory.statistics.held < 1_000_000)
        leases = []
        #expect(memory.statistics.held == 0)
        #expect(memory.lease(250_000, for: owner(0)) != nil)
    }

    @Test func `A lease larger than every share is refused`() {
        let memory = AnswerMemory(limit: 1_000_000)
        #expect(memory.lease(250_001, for: owner(0)) == nil)
        #expect(memory.lease(.max / 4, for: owner(0)) == nil)
        #expect(memory.statistics.held == 0)
    }

    /// A request that waits for room, or has been answered.
    private final class Waiter: Sendable {
        private let answer = Mutex<Bool?>(nil)
        var result: Bool? { answer.withLock { $0 } }

        init(for bytes: Int, of owner: Owner, in memory: AnswerMemory) {
            memory.enqueue(ObjectIdentifier(self), for: bytes, of: owner) { [self] result in
                answer.withLock { $0 = result }
            }
        }
    }

    @Test func `Who waits for room is called when it is given back, as many as have room together`() {
        let memory = AnswerMemory(limit: 1_000_000)
        var leases = (1...4).map { memory.lease(120_000, for: owner($0)) }
        #expect(!leases.contains { $0 == nil })
        let waiters = (5...7).map { Waiter(for: 140_000, of: owner($0), in: memory) }
        #expect(memory.statistics.waiting == 3 && waiters.allSatisfy { $0.result == nil })
        leases.removeLast()
        #expect(memory.statistics.waiting == 2)
        leases = []
        #expect(waiters.allSatisfy { $0.result == true })
        #expect(memory.statistics == .init(held: 0, refused: 0))
    }

    @Test func `Who gives up leaves the queue, and no owner takes more than four places`() {
        let memory = AnswerMemory(limit: 1_000_000)
        var lease = memory.lease(250_000, for: owner(1))
        let waiters = (0..<5).map { _ in Waiter(for: 1, of: owner(1), in: memory) }
        #expect(waiters.map(\.result) == [nil, nil, nil, nil, false] && lease != nil)
        for waiter in [waiters[0], waiters[4]] { memory.refuse(ObjectIdentifier(waiter)) }
        let other = Waiter(for: 240_000, of: owner(2), in: memory)
        #expect(memory.statistics.waiting == 4 && memory.statistics.refused == 2)
        lease = nil
        #expect(waiters.map(\.result) == [nil, true, true, true, false] && other.result == true)
        #expect(memory.statistics == .init(held: 0, refused: 2))
    }
}
