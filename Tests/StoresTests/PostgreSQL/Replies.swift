import Synchronization
import Tasks

private final class Collected<Outcome: Sendable>: Sendable {
    let replies = Mutex<[Reply<Outcome>]>([])
}

/// Lends the replies of so many callers, who wait until each of them was used once.
func withReplies<Outcome: Sendable>(_ count: Int, _ use: ([Reply<Outcome>]) throws -> Void) async throws {
    let collected = Collected<Outcome>()
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
            group.addTask {
                _ = try? await Reply<Outcome>.awaiting { reply in collected.replies.withLock { $0.append(reply) } }
            }
        }
        while collected.replies.withLock({ $0.count }) < count { await Task.yield() }
        try use(collected.replies.withLock { $0 })
        try await group.waitForAll()
    }
}
