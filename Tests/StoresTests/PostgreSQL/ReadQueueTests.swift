@testable import PostgreSQLStore
import Tasks
import Testing

@Suite("Reads that wait for PostgreSQL")
struct ReadQueueTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    /// Hands over a queue of these lists; what is taken out of it is answered behind that.
    private func queued(
        _ lists: [(TaskQuery, Owner)], _ body: (inout ReadQueue) -> [ReadStep]
    ) async throws {
        try await withReplies(lists.count) { (replies: [Reply<TaskList>]) in
            var queue = ReadQueue()
            for (list, reply) in zip(lists, replies) { queue.append(.list(list.0, list.1, reply), since: 5) }
            for step in body(&queue) { step.refuse(.overloaded) }
        }
    }

    @Test("are one where they ask for the same list")
    func joining() async throws {
        let done = TaskQuery(completed: true)
        try await queued([(.all, alice), (.all, alice), (done, alice), (done, alice), (.all, bob)]) { queue in
            let steps = queue.removeAll()
            #expect(steps.map(\.requests.count) == [2, 2, 1])
            #expect(queue.isEmpty)
            return steps
        }
    }

    @Test("of somebody who asks for many lists let others go first")
    func fairness() async throws {
        let many = (1...100).map { (TaskQuery(after: $0), alice) }
        try await queued(many + [(.all, bob)]) { queue in
            let (first, second) = (queue.next(64), queue.next(64))
            #expect(first.count == 2)
            #expect(second.count == 1)
            return first + second + queue.removeAll()
        }
    }

    @Test("are taken out when they have waited too long, and not joined then")
    func lateness() async throws {
        try await queued([(.all, alice)]) { queue in
            #expect(queue.removeAll(since: 5).isEmpty)
            let late = queue.removeAll(since: 6)
            #expect(late.count == 1)
            #expect(queue.isEmpty)
            return late
        }
    }
}
