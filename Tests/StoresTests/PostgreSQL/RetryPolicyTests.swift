@testable import PostgreSQLStore
import PostgreSQL
import Support
import Tasks
import Testing

/// Writes without callers.
extension Write {
    fileprivate init(_ command: Command) { self.init(command, nil) }
}

private func removal(_ id: Int64, of owner: Owner, _ retry: RetryPolicy = RetryPolicy()) -> Write<RemoveTask> {
    var write = Write(RemoveTask(owner: owner, id: id, expected: nil))
    write.retry = retry
    return write
}

@Suite("What is tried again", .timeLimit(.minutes(15)))
struct RetryPolicyTests {
    @Test("A lost session is never followed by another try: the commit may have happened")
    func lostSession() {
        #expect(RetryPolicy().afterFailure(.disconnected, isCommit: false, isShared: true) == nil)
        #expect(RetryPolicy().afterFailure(.disconnected, isCommit: true, isShared: true) == nil)
    }

    @Test("A write is tried at most ten times more, a read five")
    func limits() {
        var write: RetryPolicy? = RetryPolicy()
        var read: RetryPolicy? = RetryPolicy()
        var (writes, reads) = (0, 0)
        while let next = write?.afterFailure(.retryable, isCommit: false, isShared: false) {
            (write, writes) = (next, writes + 1)
        }
        while let next = read?.afterFailedRead(.unprepared) { (read, reads) = (next, reads + 1) }
        #expect((writes, reads) == (10, 5))
        #expect(RetryPolicy().afterFailedRead(.cancelled) == nil)
    }

    @Test("A pause grows with the tries, is longer at a locked row, and is none before the first")
    func pauses() {
        var random = SeededRandom()
        func pause(_ tries: Int, _ kind: PostgreSQLError.Kind) -> UInt64 {
            var retry = RetryPolicy()
            for _ in 0..<tries { retry = retry.afterFailure(kind, isCommit: false, isShared: false) ?? retry }
            retry.pause(from: 1_000_000_000, using: &random)
            return retry.notBefore
        }
        #expect(pause(0, .retryable) == 0)
        for tries in 1...10 {
            let longest = UInt64(min(tries, 6))
            for _ in 0..<50 {
                #expect((1_001_000_000...1_000_000_000 + longest * 10_000_000).contains(pause(tries, .retryable)))
                #expect((1_001_000_000...1_000_000_000 + longest * 100_000_000).contains(pause(tries, .locked)))
            }
        }
    }

    @Test("A lost session is made again at once, then after a tenth of a second, doubling up to two")
    func reconnecting() {
        let pauses = (0...8).map { RetryPolicy.reconnectPause(afterFailures: $0) / 1_000_000 }
        #expect(pauses == [0, 100, 200, 400, 800, 1600, 2000, 2000, 2000])
    }
}

@Suite("Jobs that wait in a lane of PostgreSQL", .timeLimit(.minutes(15)))
struct LaneOrderTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    /// The ids of the removals in each of the next batches; a list of changes is 0.
    private func batches(
        _ count: Int, of writes: [any QueuedWrite], weight: Int = 9, isOneOwnerOnly: Bool = false, at now: UInt64 = 0
    ) -> [[Int64]] {
        var (waiting, order) = (
            writes.map { LaneJob.write($0) }, LaneOrder(weight: weight, isOneOwnerOnly: isOneOwnerOnly)
        )
        return (0..<count).map { _ in
            order.next(of: &waiting, at: now).map { ($0.write as? Write<RemoveTask>)?.command.id ?? 0 }
        }
    }

    @Test("A list of changes counts as that many writes, and is never divided")
    func weight() {
        let changes = (1...5).map { IdentifiedChange(id: $0, change: TaskChange(completed: true)) }
        let list = Write(ChangeTasks(owner: alice, changes: changes, time: 9))
        let writes: [any QueuedWrite] = [
            removal(1, of: alice), list, removal(2, of: bob), list, removal(3, of: bob),
        ]
        #expect(batches(3, of: writes, weight: 4) == [[1, 0], [2, 0], [3]])
    }

    @Test("Writes of other owners wait where a transaction must have one owner")
    func oneOwner() {
        let writes = [removal(1, of: alice), removal(2, of: bob), removal(3, of: alice)]
        #expect(batches(2, of: writes, isOneOwnerOnly: true) == [[1, 3], [2]])
    }

    @Test("Writes of a failed transaction are sent alone, and those of a locked row with their owner's")
    func scopes() {
        let failed = RetryPolicy().afterFailure(.full, isCommit: false, isShared: true) ?? RetryPolicy()
        let locked = RetryPolicy().afterFailure(.locked, isCommit: false, isShared: true) ?? RetryPolicy()
        let writes = [
            removal(1, of: alice, failed), removal(2, of: alice, failed), removal(3, of: alice, locked),
            removal(4, of: bob, locked), removal(5, of: alice, locked),
        ]
        #expect(batches(4, of: writes) == [[1], [2], [3, 5], [4]])
    }

    @Test("Writes wait until they may be tried again")
    func pauses() {
        var retry = RetryPolicy().nextTry ?? RetryPolicy()
        var random = SeededRandom()
        retry.pause(from: 100, using: &random)
        let writes = [removal(1, of: alice, retry), removal(2, of: alice)]
        #expect(batches(2, of: writes, at: 100) == [[2], []])
        #expect(batches(2, of: writes, at: retry.notBefore) == [[1, 2], []])
    }
}
