import Support
import Synchronization
import Tasks
import Testing

/// Counts the answers to two people who ask for more than the store can do.
private final class Attack: Sendable {
    let answered = Atomic(0)
    let isOver = Atomic(false)

    /// How many of their calls are answered while somebody else waits for an answer, in the middle of several attempts.
    func answersDuring(_ call: () async throws -> Void) async throws -> Int {
        var counts: [Int] = []
        for _ in 0..<11 {
            let before = answered.load(ordering: .relaxed)
            try await call()
            counts.append(answered.load(ordering: .relaxed) - before)
            // The attack goes on before the next attempt.
            await eventually { answered.load(ordering: .relaxed) > before + counts.reduce(0, max) + 2 }
        }
        return counts.sorted()[counts.count / 2]
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
                // In the order of arrival it would be all 60; a busy machine lets some more pass than the turns do.
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
