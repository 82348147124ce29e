import Support
import Synchronization
import Tasks
import Testing

@testable import StoreEngine

/// A session that answers each job by its work.
private final class MadeUpSession: StoreSession {
    private let onRun: @Sendable () -> Void
    private let isLost: @Sendable () -> Bool

    init(onRun: @escaping @Sendable () -> Void = {}, isLost: @escaping @Sendable () -> Bool = { false }) {
        self.onRun = onRun
        self.isLost = isLost
    }

    func maintain(at now: UInt64) throws(SessionLoss) -> UInt64 {
        if isLost() { throw SessionLoss("lost") }
        return .max
    }

    func run(_ jobs: [Job]) -> BatchResult {
        onRun()
        return BatchResult(
            jobs.compactMap { job in
                (job.work as? Answer).map { (job: job, verdict: Verdict.answer($0.give)) }
            })
    }

    func end() {}
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
    do throws(StoreError) {
        _ = try await engine.list(ListTasks(owner: alice, selection: TaskQuery(limit: limit))) { list in
            let work: any JobWork = Answer { list.answer(.success(TaskList(rendering: []))) }
            return isForeign ? NamedWork("of another database") : work
        }
        return nil
    } catch {
        return error
    }
}

@Suite("An engine with made-up sessions", .timeLimit(.minutes(15)))
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
        breakpoint.resume()
        #expect(await first.value == nil)
        let late = Task { await refusal(of: engine) }
        late.cancel()
        _ = await late.value
        #expect(engine.close())
        #expect(counts.runs.load(ordering: .relaxed) <= 2)
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
