import Synchronization
import Tasks
import Testing

@Suite("The places of long answers are shared by owners")
struct AnswerMemoryTests {
    private let memory = AnswerMemory(limit: 16_000)

    private func owner(_ number: Int) -> Owner { Owner("owner-\(number)") }

    @Test func `There are as many places as pages fit in the memory, and two of one owner`() {
        var places = (0..<8).map { number in (0..<3).map { _ in memory.place(for: owner(number)) } }
        #expect(places.allSatisfy { $0.map { $0 != nil } == [true, true, false] })
        #expect(memory.pageSize == 1000 && memory.statistics.held == 16_000)
        #expect(memory.place(for: owner(9)) == nil)
        places[3] = []
        #expect(memory.statistics.held == 14_000)
        #expect(memory.place(for: owner(9)) != nil)
        places = []
        #expect(memory.statistics == .init())
    }

    /// A request that waits for a place, or has been answered, and holds its place.
    private final class Waiter: Sendable {
        enum Condition { case waiting, placed, refused }

        private struct State {
            var condition = Condition.waiting
            var place: AnswerPlace?
        }

        private let state = Mutex(State())
        var condition: Condition { state.withLock { $0.condition } }

        init(for owner: Owner, in memory: AnswerMemory) {
            memory.enqueue(ObjectIdentifier(self), for: owner) { [self] place in
                state.withLock { $0 = State(condition: place == nil ? .refused : .placed, place: place) }
            }
        }

        func leave() { _ = state.withLock { $0.place.take() } }
    }

    @Test func `A place that is given back is handed to the first who waits and may have it`() {
        var places = (0..<16).map { memory.place(for: owner($0 / 2)) }
        // The first owner has two places.
        let waiters = [0, 20, 21].map { Waiter(for: owner($0), in: memory) }
        #expect(memory.statistics.waiting == 3)
        places.removeLast()
        #expect(waiters.map(\.condition) == [.waiting, .placed, .waiting])
        // Nobody takes the place of one who waits.
        #expect(memory.place(for: owner(30)) == nil && memory.statistics.held == 16_000)
        waiters[1].leave()
        #expect(waiters.map(\.condition) == [.waiting, .placed, .placed])
        places.removeFirst()
        #expect(waiters.map(\.condition) == [.placed, .placed, .placed])
        for waiter in waiters { waiter.leave() }
        places = []
        #expect(memory.statistics == .init())
    }

    @Test func `Who gives up leaves the queue, and no owner waits more than four times`() {
        var places = (0..<2).map { _ in memory.place(for: owner(1)) }
        let waiters = (0..<5).map { _ in Waiter(for: owner(1), in: memory) }
        #expect(waiters.map(\.condition) == [.waiting, .waiting, .waiting, .waiting, .refused])
        memory.leave(ObjectIdentifier(waiters[0]))
        memory.countRefusal()
        #expect(memory.statistics == .init(held: 2000, refused: 1, waiting: 3) && places.count == 2)
        #expect(Waiter(for: owner(2), in: memory).condition == .placed)
        places = []
        #expect(waiters.map(\.condition) == [.waiting, .placed, .placed, .waiting, .refused])
    }

    @Test func `At most sixty-four requests wait`() {
        let places = (0..<16).map { memory.place(for: owner($0 / 2)) }
        let waiters = (100..<165).map { Waiter(for: owner($0), in: memory) }
        #expect(waiters.count { $0.condition == .waiting } == 64 && waiters.last?.condition == .refused)
        withExtendedLifetime(places) {}
    }
}
