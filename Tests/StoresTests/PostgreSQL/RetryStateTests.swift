@testable import PostgreSQLStore
import PostgreSQL
import StoreEngine
import Support
import Tasks
import Testing

/// A write without a caller.
private func job(_ command: some PostgreSQLCommand, _ retry: RetryState = RetryState()) -> Job {
    let write = PostgreSQLWrite(command) { _, _ in .answer {} }
    return Job(of: command.owner, .write, weight: command.weight, write) { _ in }.again(retry)
}

private func removal(_ id: Int64, of owner: Owner, _ retry: RetryState = RetryState()) -> Job {
    job(RemoveTask(owner: owner, id: id, expected: nil), retry)
}

@Suite("What is tried again", .timeLimit(.minutes(15)))
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
            for _ in 0..<50 {
                #expect((1_001_000_000...1_000_000_000 + longest * 10_000_000).contains(pause(tries, .others)))
                #expect((1_001_000_000...1_000_000_000 + longest * 100_000_000).contains(pause(tries, .lockedRow)))
            }
        }
    }

    @Test func `A lost session is made again at once, then after a tenth of a second, doubling up to two`() {
        let pauses = (0...8).map { RetryState.reconnectPause(afterFailures: $0) / 1_000_000 }
        #expect(pauses == [0, 100, 200, 400, 800, 1600, 2000, 2000, 2000])
    }
}

@Suite("Writes that wait for a transaction of PostgreSQL", .timeLimit(.minutes(15)))
struct PostgreSQLWriteOrderTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    /// The ids of the removals in each of the next batches; a list of changes is 0.
    private func batches(
        _ count: Int, of writes: [Job], weight: Int = 9, isOneOwnerOnly: Bool = false,
        except busy: Set<Owner> = [], at now: UInt64 = 0
    ) -> [[Int64]] {
        var waiting = writes
        let order = WriteOrder(weight: weight, isOneOwnerOnly: isOneOwnerOnly)
        return (0..<count).map { _ in
            order.next(of: &waiting, except: busy, at: now).map { job in
                ((job.work as? PostgreSQLWrite)?.command as? RemoveTask)?.id ?? 0
            }
        }
    }

    @Test func `Writes share a transaction in the order in which they came, as many as may`() {
        let writes = [removal(1, of: alice), removal(2, of: bob), removal(3, of: alice)]
        #expect(batches(3, of: writes, weight: 2) == [[1, 2], [3], []])
    }

    @Test func `A list of changes counts as that many writes, and is never divided`() {
        let changes = (1...5).map { IdentifiedChange(id: $0, change: TaskChange(completed: true)) }
        let list = job(ChangeTasks(owner: alice, changes: changes, time: 9))
        let writes = [removal(1, of: alice), list, removal(2, of: bob), list, removal(3, of: bob)]
        #expect(batches(3, of: writes, weight: 4) == [[1, 0], [2, 0], [3]])
    }

    @Test func `Writes of other owners wait where a transaction must have one owner`() {
        let writes = [removal(1, of: alice), removal(2, of: bob), removal(3, of: alice)]
        #expect(batches(2, of: writes, isOneOwnerOnly: true) == [[1, 3], [2]])
    }

    @Test func `Writes of an owner wait while another session writes for that owner`() {
        let writes = [removal(1, of: alice), removal(2, of: bob), removal(3, of: alice)]
        #expect(batches(2, of: writes, except: [alice]) == [[2], []])
    }

    @Test func `Writes of a failed transaction are sent alone, and those of a locked row with their owner's`() {
        let failed = RetryState().after(.oneJob, isShared: true) ?? RetryState()
        let locked = RetryState().after(.lockedRow, isShared: true) ?? RetryState()
        let writes = [
            removal(1, of: alice, failed), removal(2, of: alice, failed), removal(3, of: alice, locked),
            removal(4, of: bob, locked), removal(5, of: alice, locked),
        ]
        #expect(batches(4, of: writes) == [[1], [2], [3, 5], [4]])
    }

    @Test func `Writes wait until they may be tried again`() {
        var random = SeededRandom()
        let retry = RetryState().nextTry()?.paused(from: 100, using: &random) ?? RetryState()
        let writes = [removal(1, of: alice, retry), removal(2, of: alice)]
        #expect(batches(2, of: writes, at: 100) == [[2], []])
        #expect(batches(2, of: writes, at: retry.notBefore) == [[1, 2], []])
    }
}
