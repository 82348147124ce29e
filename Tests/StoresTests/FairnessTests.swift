import Support
import Synchronization
import Tasks
import Testing

/// Counts the answers to two people who ask for more than the store can do.
private final class Attack: Sendable {
    let answered = Atomic(0)
    let isOver = Atomic(false)

    /// The fewest of their calls that are answered while somebody else waits for an answer, in several attempts.
    ///
    /// Some more are answered while the machine does other work; whoever stands behind all of them does so each time.
    func answersDuring(_ call: @escaping @Sendable () async throws -> Void) async throws -> Int {
        var least = Int.max
        for _ in 0..<7 {
            let before = answered.load(ordering: .relaxed)
            // Or the call would wait for a thread behind theirs.
            try await Task(priority: .high) { try await call() }.value
            let count = answered.load(ordering: .relaxed) - before
            least = min(least, count)
            // The attack goes on before the next attempt.
            await eventually { answered.load(ordering: .relaxed) > before + count + 2 }
        }
        return least
    }
}

@Suite("Nobody waits for somebody else's work", .enabled(if: !isSanitized, "turns are the same with a sanitizer"))
struct FairnessTests {
    private let attackers = [Owner("alice"), Owner("bob")]
    private let carol = Owner("carol")

    /// Gives a store in which two people have a thousand tasks each, and somebody else has one.
    private func withStore(_ kind: StoreUnderTest, _ body: @Sendable (any TaskStore) async throws -> Void) async throws
    {
        try await kind.with { store in
            try await atOnce(0..<2000) { try await store.added("x", of: attackers[$0 % 2]) }
            _ = try await store.added("hers", of: carol)
            try await body(store)
        }
    }

    /// Runs a body while each of the two has so many callers who ask again and again.
    private func attacking(
        callers: Int, _ ask: @escaping @Sendable (Owner, _ caller: Int) async throws -> Void,
        _ body: (Attack) async throws -> Void
    ) async throws {
        let attack = Attack()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for owner in attackers {
                for caller in 1...callers {
                    group.addTask {
                        while !attack.isOver.load(ordering: .relaxed) {
                            // A call of theirs may wait for too long.
                            try? await ask(owner, caller)
                            attack.answered.add(1, ordering: .relaxed)
                        }
                    }
                }
            }
            defer { attack.isOver.store(true, ordering: .relaxed) }
            await eventually("the attack is under way") { attack.answered.load(ordering: .relaxed) > 4 }
            try await body(attack)
            attack.isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
    }

    @Test(arguments: StoreUnderTest.durable)
    func `A write does not wait for the lists of changes of other people`(kind: StoreUnderTest) async throws {
        try await withStore(kind) { store in
            try await attacking(callers: 30) { owner, caller in
                let changes = (1...1000).map {
                    IdentifiedChange(id: $0, change: TaskChange(completed: caller.isMultiple(of: 2)))
                }
                _ = try await store.perform(ChangeTasks(owner: owner, changes: changes, time: 1))
            } _: { attack in
                let answers = try await attack.answersDuring { _ = try await store.added("x", of: carol) }
                // In the order of arrival it would be all 60.
                #expect(answers < 30)
            }
        }
    }

    @Test(arguments: StoreUnderTest.durable)
    func `A read does not wait for the lists of other people`(kind: StoreUnderTest) async throws {
        try await withStore(kind) { store in
            try await attacking(callers: 40) { owner, caller in
                _ = try await store.list(TaskQuery(completed: false, after: Int64(caller)), of: owner)
            } _: { attack in
                let answers = try await attack.answersDuring {
                    _ = try await store.find(1, of: carol)
                    _ = try await store.list(TaskQuery(limit: 7), of: carol)
                }
                // Two reads in the order of arrival would wait for 160.
                #expect(answers < 70)
            }
        }
    }
}
