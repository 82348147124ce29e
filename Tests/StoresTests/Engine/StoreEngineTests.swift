import Support
import Synchronization
import Tasks
import Testing

@testable import StoreEngine

/// A session that answers each job by its work, unless it is lost before it begins.
private final class MadeUpSession: StoreSession {
    private let onRun: @Sendable () -> Void
    private let isLost: @Sendable () -> Bool
    private let isLostAtRun: @Sendable () -> Bool
    /// How long the session sleeps at most.
    private let sleep: UInt64?

    init(
        sleep: UInt64? = nil, onRun: @escaping @Sendable () -> Void = {},
        isLost: @escaping @Sendable () -> Bool = { false }, isLostAtRun: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.sleep, self.onRun, self.isLost, self.isLostAtRun) = (sleep, onRun, isLost, isLostAtRun)
    }

    func maintain(at now: UInt64) throws(SessionLoss) -> UInt64 {
        if isLost() { throw SessionLoss("lost") }
        return sleep.map { now + $0 } ?? .max
    }

    func run(_ jobs: [Job]) -> BatchResult {
        onRun()
        guard !isLostAtRun() else {
            var result = BatchResult(jobs) { .again($0) }
            result.loss = SessionLoss("lost")
            return result
        }
        return BatchResult(
            jobs.compactMap { job in
                (job.work as? Answer).map { (job: job, verdict: Verdict.answer($0.give)) }
            })
    }
}

private final class Answer: JobWork {
    let give: @Sendable () -> Void

    init(_ give: @escaping @Sendable () -> Void) { self.give = give }
}

/// What happened while callers asked for lists.
private final class Counts: Sendable {
    let runs = Atomic(0)
    let opened = Atomic(0)
}

private let alice = Owner("alice")

/// Asks for a list of some length; the outcome is the error.
private func refusal(of engine: StoreEngine, limit: Int = 1, isForeign: Bool = false) async -> StoreError? {
    await thrown { () async throws(StoreError) in
        _ = try await outcome { answer in
            engine.list(ListTasks(owner: alice, selection: TaskQuery(limit: limit)), answer) { list in
                let work: any JobWork = Answer { list.answer(.success(TaskList(rendering: []))) }
                return isForeign ? NamedWork("of another database") : work
            }
        }
    }
}

/// Writes; the outcome is the error.
private func write(to engine: StoreEngine) async -> StoreError? {
    await thrown { () async throws(StoreError) in
        try await outcome { (answer: @escaping StoreAnswer<Void>) in
            engine.call(of: alice, .write, answer, Answer { answer(.success(())) })
        }
    }
}

@Suite("An engine with made-up sessions")
struct StoreEngineTests {
    private let counts = Counts()

    private func engine(_ change: (inout EngineOptions) -> Void = { _ in }) -> StoreEngine {
        var options = EngineOptions(readers: ["reader"], writers: [])
        options.patience = .max
        change(&options)
        return StoreEngine(options)
    }

    /// An engine whose session stops at the breakpoint in its first batch, which is under way.
    private func stoppedEngine(_ breakpoint: Breakpoint) async throws -> (StoreEngine, first: Task<StoreError?, Never>)
    {
        let engine = engine()
        try engine.start { [counts] _ throws(SessionLoss) in
            MadeUpSession {
                counts.runs.add(1, ordering: .relaxed)
                breakpoint.stop()
            }
        }
        let first = Task { await refusal(of: engine) }
        await breakpoint.waitUntilReached()
        return (engine, first)
    }

    @Test func `Equal lists that wait are read once, and one that is being read is not shared`() async throws {
        let breakpoint = Breakpoint()
        let (engine, first) = try await stoppedEngine(breakpoint)
        let callers = (0..<5).map { _ in Task { await refusal(of: engine) } }
        await eventually("all wait") { engine.statistics.waitingReads == 5 }
        breakpoint.resume()
        for caller in callers + [first] { #expect(await caller.value == nil) }
        #expect(counts.runs.load(ordering: .relaxed) == 2)
        #expect(engine.close())
    }

    @Test func `All callers of a shared list give their room back`() async throws {
        let engine = engine { $0.mostBytes = 16 * Job.callBytes }
        let gate = Mutex<Breakpoint?>(nil)
        try engine.start { _ throws(SessionLoss) in MadeUpSession { gate.withLock { $0 }?.stop() } }
        for _ in 0..<3 {
            let breakpoint = Breakpoint()
            gate.withLock { $0 = breakpoint }
            let first = Task { await refusal(of: engine) }
            await breakpoint.waitUntilReached()
            let callers = (0..<3).map { _ in Task { await refusal(of: engine) } }
            await eventually("all wait") { engine.statistics.waitingReads == 3 }
            breakpoint.resume()
            for caller in callers + [first] { #expect(await caller.value == nil) }
        }
        #expect(engine.close())
    }

    @Test func `Callers who share a list count each, and leave one by one`() async throws {
        let breakpoint = Breakpoint()
        let (engine, first) = try await stoppedEngine(breakpoint)
        let callers = (0..<3).map { _ in Task { await refusal(of: engine) } }
        await eventually("all wait") { engine.statistics.waitingReads == 3 }
        for (number, caller) in callers.enumerated() where number != 1 {
            caller.cancel()
            #expect(await caller.value == .withdrawn)
        }
        #expect(engine.statistics.waitingReads == 1)
        breakpoint.resume()
        #expect(await callers[1].value == nil)
        #expect(await first.value == nil)
        #expect(engine.close())
    }

    @Test func `What nobody waits for any more is not done, and what was begun is`() async throws {
        let breakpoint = Breakpoint()
        let (engine, first) = try await stoppedEngine(breakpoint)
        let callers = (0..<200).map { number in Task { await refusal(of: engine, limit: 1 + number / 2) } }
        await eventually("all wait") { engine.statistics.waitingReads == 200 }
        for caller in callers + [first] { caller.cancel() }
        for caller in callers { #expect(await caller.value == .withdrawn) }
        #expect(engine.statistics.waitingReads == 0)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await refusal(of: engine)
        }
        #expect(await late.value == .withdrawn)
        breakpoint.resume()
        #expect(await first.value == nil)
        #expect(engine.close())
        #expect(counts.runs.load(ordering: .relaxed) == 1)
    }

    @Test func `A list that was refused before it was read is read when it is asked for again`() async throws {
        let engine = engine()
        let breakpoint = Breakpoint()
        try engine.start { [counts] _ throws(SessionLoss) in
            breakpoint.stop()
            if counts.opened.wrappingAdd(1, ordering: .relaxed).newValue == 1 { throw SessionLoss("no host") }
            return MadeUpSession()
        }
        let caller = Task { await refusal(of: engine) }
        await eventually("the caller waits") { engine.statistics.waitingReads == 1 }
        breakpoint.resume()
        #expect(await caller.value == .unavailable(reason: "no host"))
        await eventually("the list is read") { await refusal(of: engine) == nil }
        #expect(engine.close())
    }

    @Test func `A job of another database is refused`() async throws {
        let engine = engine()
        try engine.start { _ throws(SessionLoss) in MadeUpSession() }
        #expect(await refusal(of: engine, isForeign: true) == .broken(reason: "a job of another database"))
        #expect(await refusal(of: engine) == nil)
        #expect(engine.close())
    }

    @Test func `A session that opens and dies at once is opened again after pauses that grow`() async throws {
        let engine = engine()
        let start = ContinuousClock.now
        try engine.start { [counts] _ throws(SessionLoss) in
            counts.opened.add(1, ordering: .relaxed)
            return MadeUpSession(isLost: { true })
        }
        await eventually("four attempts") { counts.opened.load(ordering: .relaxed) >= 4 }
        #expect(ContinuousClock.now - start >= .milliseconds(700))
        #expect(engine.close())
    }

    @Test func `A session that is lost after a good batch is opened again at once`() async throws {
        let engine = engine()
        try engine.start { [counts] _ throws(SessionLoss) in
            let before = counts.runs.load(ordering: .relaxed)
            counts.opened.add(1, ordering: .relaxed)
            return MadeUpSession {
                counts.runs.add(1, ordering: .relaxed)
            } isLost: {
                counts.runs.load(ordering: .relaxed) > before
            }
        }
        // With pauses, a hundred attempts would take minutes.
        for _ in 0..<100 { await eventually("an answer") { await refusal(of: engine) == nil } }
        #expect(counts.opened.load(ordering: .relaxed) >= 100)
        #expect(engine.close())
    }

    @Test func `Lists in memory outlive a session that cannot be opened, and not one that is lost`() async throws {
        let engine = engine { $0.readers.append("other") }
        try engine.start { [counts] number throws(SessionLoss) in
            guard number == 0 else {
                counts.opened.add(1, ordering: .relaxed)
                throw SessionLoss("no host")
            }
            return MadeUpSession(sleep: 1_000_000, isLost: { counts.runs.load(ordering: .relaxed) > 0 })
        }
        engine.cache.keep(TaskList(rendering: []), of: alice, at: .beginning)
        let opened = counts.opened.load(ordering: .relaxed)
        await eventually("two attempts") { counts.opened.load(ordering: .relaxed) >= opened + 2 }
        #expect(engine.cache.holdsList(of: alice))
        counts.runs.store(1, ordering: .relaxed)
        await eventually("no list") { !engine.cache.holdsList(of: alice) }
        #expect(engine.close())
    }

    /// A writer notices that it was lost between two batches, or when it has taken a write.
    @Test(arguments: [false, true])
    func `What a lost session leaves is done by one of the other kind, which is woken`(isTaken: Bool) async throws {
        let engine = engine { $0.writers = ["writer"] }
        let (loss, opening) = (Breakpoint(), Breakpoint())
        try engine.start { [counts] number throws(SessionLoss) in
            guard number == 1 else { return MadeUpSession() }
            if counts.opened.wrappingAdd(1, ordering: .relaxed).newValue > 1 { opening.stop() }
            let isLost: @Sendable () -> Bool = {
                guard counts.runs.load(ordering: .relaxed) > 0 else { return false }
                loss.stop()
                return true
            }
            return isTaken ? MadeUpSession(isLostAtRun: isLost) : MadeUpSession(sleep: 1_000_000, isLost: isLost)
        }
        await eventually("both sessions are there") { counts.opened.load(ordering: .relaxed) == 1 }
        #expect(await refusal(of: engine) == nil)
        #expect(await write(to: engine) == nil)
        counts.runs.store(1, ordering: .relaxed)
        if !isTaken { await loss.waitUntilReached() }
        let caller = Task { await write(to: engine) }
        await loss.waitUntilReached()
        await eventually("the write waits or was taken") { isTaken || engine.statistics.waitingWrites == 1 }
        loss.resume()
        #expect(await caller.value == nil)
        opening.resume()
        #expect(engine.close())
    }

    @Test func `Who waits for a session that is being opened when the engine closes is refused`() async throws {
        let engine = engine()
        let (batch, opening) = (Breakpoint(), Breakpoint())
        try engine.start { [counts] _ throws(SessionLoss) in
            if counts.opened.wrappingAdd(1, ordering: .relaxed).newValue > 1 { opening.stop() }
            return MadeUpSession {
                batch.stop()
            } isLostAtRun: {
                true
            }
        }
        let first = Task { await refusal(of: engine) }
        await batch.waitUntilReached()
        batch.resume()
        await opening.waitUntilReached()
        #expect(engine.close())
        #expect(await first.value == .unavailable(reason: "closed"))
        opening.resume()
    }

    @Test func `An engine that closes does not wait for a host that does not answer`() async throws {
        let engine = engine()
        let breakpoint = Breakpoint()
        try engine.start { [counts] _ throws(SessionLoss) in
            if counts.opened.wrappingAdd(1, ordering: .relaxed).newValue > 1 { breakpoint.stop() }
            throw SessionLoss("no host")
        }
        await breakpoint.waitUntilReached()
        #expect(engine.close())
        breakpoint.resume()
    }
}
