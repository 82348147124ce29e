import Support
import Tasks
import Testing

@Suite("The memory of long lists is shared by owners", .timeLimit(.minutes(15)))
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

    @Test func `Who waits for room is resumed when it is given back, as many as have room together`() async throws {
        let memory = AnswerMemory(limit: 1_000_000)
        let deadline = ContinuousClock.now + .seconds(600)
        var leases = (1...4).map { memory.lease(120_000, for: owner($0)) }
        #expect(!leases.contains { $0 == nil })
        let waiters = (5...7).map { number in
            Task { await memory.awaitRoom(for: 140_000, of: Owner("owner-\(number)"), until: deadline) }
        }
        await eventually { memory.statistics.waiting == 3 }
        leases.removeLast()
        #expect(memory.statistics.waiting == 2)
        leases = []
        for waiter in waiters { #expect(await waiter.value) }
        #expect(memory.statistics == .init(held: 0, refused: 0))
    }

    @Test func `A wait ends at its deadline, and no owner takes more than four places`() async {
        let memory = AnswerMemory(limit: 1_000_000)
        var lease = memory.lease(250_000, for: owner(1))
        let start = ContinuousClock.now
        #expect(await !memory.awaitRoom(for: 1, of: owner(1), until: start + .milliseconds(50)) && lease != nil)
        #expect(ContinuousClock.now - start >= .milliseconds(50) && memory.statistics.refused == 1)
        let waiters = (0..<5).map { _ in
            Task { await memory.awaitRoom(for: 1, of: Owner("owner-1"), until: start + .seconds(600)) }
        }
        await eventually { memory.statistics.waiting == 4 && memory.statistics.refused == 2 }
        let other = Task { await memory.awaitRoom(for: 240_000, of: Owner("owner-2"), until: start + .seconds(600)) }
        await eventually { memory.statistics.waiting == 5 }
        lease = nil
        #expect(await other.value)
        var resumed = 0
        for waiter in waiters where await waiter.value { resumed += 1 }
        #expect(resumed == 4 && memory.statistics.refused == 2)
    }
}
