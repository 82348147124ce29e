import Platform
import SQLite
import StoreEngine
import Support
import Synchronization
import Tasks
import Testing

@testable import SQLiteStore

@Suite("When the log is copied, and who waits for that")
struct CheckpointStateTests {
    private typealias Bound = CheckpointState.Bound

    @Test func `A round begins after a thousand new pages, and once`() {
        let log = MadeUpLog()
        #expect(!log.write(to: 999))
        #expect(log.write(to: 1000))
        #expect(!log.write(to: 5000))
    }

    @Test func `A log that was long is half as long before the next round begins`() {
        let log = MadeUpLog(8000)
        #expect(log.pass((8000, 8000), at: 1) == .end)
        #expect(!log.write(to: 3999))
        #expect(log.write(to: 4000))
    }

    @Test func `A round ends when all is copied, also what was committed while it ran`() {
        let log = MadeUpLog(2000)
        log.with { $0.beginRound(at: 0) }
        log.with { $0.beginPass() }
        _ = log.write(to: 2300)
        #expect(log.with { $0.endPass(Connection.CheckpointPass(log: 2000, copied: 2000), at: 1) } == .pass(after: 0))
        log.with { $0.beginTransaction() }
        #expect(log.pass((2300, 2300), at: 2) == .pass(after: 0))
        #expect(log.pass((2300, 2300), at: 3) == .pass(after: Bound.moment))
        _ = log.with { $0.endTransaction(logLength: 2300) }
        #expect(log.pass((2300, 2300), at: 4) == .end)
        #expect(log.state.phase == .idle)
    }

    @Test func `The writer leaves a moment to each pass, and rests while the last pages are copied`() {
        let log = MadeUpLog(2000)
        #expect(!log.with { $0.takeMoment() })
        log.with { $0.beginPass() }
        #expect(log.with { $0.takeMoment() })
        #expect(!log.with { $0.takeMoment() })
        #expect(log.pass((2000, 2000 - Int64(Bound.last) - 1), at: 1) == .pass(after: 0))
        #expect(log.state.pause == .none)
        #expect(log.pass((2000, 2000 - Int64(Bound.last)), at: 2) == .pass(after: 0))
        #expect(log.state.pause == .rest)
        log.with { $0.beginPass() }
        #expect(log.state.pause == .rest)
        #expect(log.pass((2000, 2000), at: 3) == .end)
        #expect(log.state.pause == .none)
    }

    @Test func `The writer rests during a round of the longest log`() {
        let log = MadeUpLog(Bound.writes)
        #expect(log.pass((Int64(Bound.writes), 1), at: 1) == .pass(after: 0))
        #expect(log.state.pause == .rest)
    }

    @Test("Long writes wait for a log of 48 MiB that is being copied, all for one of 64, until it began anew or cannot")
    func room() {
        let log = MadeUpLog()
        func room(at length: Int) -> WriteRoom {
            _ = log.write(to: length)
            return log.state.room
        }
        #expect(room(at: 12_287) == .everything)
        #expect(room(at: 12_288) == .shortWrites)
        #expect(room(at: 16_383) == .shortWrites)
        #expect(room(at: 16_384) == .nothing)
        #expect(room(at: 100) == .everything)
        #expect(room(at: 20_000) == .nothing)
        // A failure, or a reader in the way, has the same effect.
        log.with { $0.endRound(isHindered: true) }
        #expect(log.state.room == .everything)
        // In the next round no write waits for what cannot be copied, until the log began anew.
        #expect(room(at: 30_000) == .shortWrites)
        log.with { $0.endRound(isHindered: false) }
        #expect(room(at: 100) == .everything)
        #expect(room(at: 20_000) == .nothing)
    }

    @Test func `Writes wait a quarter of a second for a reader in the way, and not again until the log began anew`() {
        let log = MadeUpLog(2000)
        log.with { $0.beginRound(at: 0) }
        for (now, step) in [
            (1, .pass(after: 0)), (Bound.patience, .pass(after: Bound.moment)),
            (Bound.patience + 1, .pass(after: Bound.moment)), (Bound.patience + 2, .end),
        ] as [(UInt64, CheckpointState.Step)] {
            #expect(log.pass((2000, 500), at: now) == step)
        }
        #expect(log.write(to: 4000))
        log.with { $0.beginRound(at: 0) }
        // A pass that could not begin, beside a reader who was in the way before, ends the round.
        #expect(log.pass(nil, at: 1) == .end)
        _ = log.write(to: 10)
        #expect(log.write(to: 3000))
        #expect(log.pass(nil, at: 1) == .pass(after: Bound.moment))
    }

    @Test func `A closed one ends its round, and lets no write wait`() {
        let log = MadeUpLog(20_000)
        log.with { $0.beginPass() }
        log.with { $0.close() }
        #expect(log.pass((20_000, 1), at: 1) == .end)
        #expect(log.state.room == .everything)
        #expect(log.state.pause == .none)
        #expect(!log.write(to: 40_000))
    }
}

/// A state that a macro can change where it compares.
private final class MadeUpLog {
    private(set) var state = CheckpointState()

    /// A log of so many pages, after one transaction.
    init(_ length: Int = 0) { _ = write(to: length) }

    func with<Result>(_ body: (inout CheckpointState) -> Result) -> Result { body(&state) }

    /// Makes a transaction after which the log has so many pages; returns whether a round begins.
    func write(to length: Int) -> Bool {
        state.beginTransaction()
        return state.endTransaction(logLength: length)
    }

    /// Makes a pass that ends at a time.
    func pass(_ pass: (log: Int64, copied: Int64)?, at now: UInt64) -> CheckpointState.Step {
        state.beginPass()
        return state.endPass(pass.map { Connection.CheckpointPass(log: $0.log, copied: $0.copied) }, at: now)
    }
}

@Suite("The thread of the checkpoints does what the state says")
struct CheckpointThreadTests {
    @Test func `A failure is reported once, and again after a round that was good`() async throws {
        let events = RecordedEvents()
        let (rounds, isGood) = (Shared(0), Shared(false))
        let checkpointer = Checkpointer(observer: events.append) { rounds.change { $0 += 1 } }
        let thread = try NamedThread.start("checkpointer") {
            checkpointer.run { () throws(SQLiteError) in
                guard isGood.value else { throw SQLiteError(code: 10, message: "disk I/O error") }
                return Connection.CheckpointPass(log: 20_000, copied: 20_000)
            }
        }
        for (number, (good, reports)) in [(false, 1), (false, 1), (true, 1), (false, 2)].enumerated() {
            isGood.change { $0 = good }
            checkpointer.beginTransaction()
            checkpointer.endTransaction(logLength: (number + 1) * 20_000)
            await eventually("the round is over") { rounds.value == number + 1 }
            #expect(
                events.all == Array(repeating: .checkpointFailed(reason: "disk I/O error (SQLite 10)"), count: reports))
        }
        checkpointer.close()
        thread.join()
    }

    @Test(arguments: [true, false])
    func `The writer rests until the round is over, or until more is left than it rests for`(isOver: Bool) async throws
    {
        let (passes, left, isBack, ends) = (Shared(0), Shared(Int64(0)), Shared(false), Shared(0))
        let checkpointer = Checkpointer(longestRest: .max / 2, observer: { _ in }) { ends.change { $0 += 1 } }
        checkpointer.endTransaction(logLength: 2000)
        // The round cannot end during a transaction.
        checkpointer.beginTransaction()
        let thread = try NamedThread.start("checkpointer") {
            checkpointer.run { () throws(SQLiteError) in
                passes.change { $0 += 1 }
                return Connection.CheckpointPass(log: 2000 + left.value, copied: 2000)
            }
        }
        await eventually("the first pass is over") { passes.value > 1 }
        try NamedThread.start("writer") {
            checkpointer.pauseIfWanted()
            isBack.change { $0 = true }
        }
        // Nothing happens meanwhile.
        try await Task.sleep(for: .milliseconds(200))
        #expect(!isBack.value)
        if isOver { checkpointer.endTransaction(logLength: 2000) } else { left.change { $0 = 1000 } }
        await eventually("the writer is back") { isBack.value }
        // Writes that wait for room in the log may go on.
        await eventually("the end of the round is told") { ends.value == (isOver ? 1 : 0) }
        checkpointer.close()
        thread.join()
    }
}

/// A value that threads of a test share.
private final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) { state.withLock { body(&$0) } }
}
