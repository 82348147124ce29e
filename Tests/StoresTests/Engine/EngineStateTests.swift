import Tasks
import Testing

@testable import StoreEngine

@Suite("What the threads of an engine share")
struct EngineStateTests {
    // MARK: Another try

    @Test func `Writes of a failed transaction are tried alone, before later ones of their owners`() throws {
        let engine = MadeUpEngine()
        for name in ["1", "2"] { try engine.submit(name, of: "alice") }
        try engine.submit("b1", of: "bob")
        #expect(engine.take(1) == ["1", "2", "b1"])
        try engine.submit("3", of: "alice")
        try engine.submit("b2", of: "bob")
        engine.finish(1, failing: .oneJob)
        let transactions = (0..<5).map { _ in engine.run(1) }
        #expect(transactions.filter { !$0.isEmpty } == [["1"], ["b1"], ["2"], ["b2", "3"]])
    }

    @Test func `Writes that met a locked row are tried alone, and other owners write while theirs pause`() throws {
        let engine = MadeUpEngine()
        for (name, owner) in [("1", "alice"), ("b", "bob"), ("2", "alice")] { try engine.submit(name, of: owner) }
        #expect(engine.take(1).count == 3)
        engine.finish(1, failing: .lockedRow)
        try engine.submit("3", of: "alice")
        try engine.submit("c", of: "carol")
        #expect([engine.run(1), engine.run(1)] == [["c"], []])
        engine.now += 1_000_000_000
        #expect(Set([engine.run(1), engine.run(1)]) == [["1"], ["b"]])
        #expect([engine.run(1), engine.run(1)] == [["2"], ["3"]])
    }

    @Test func `A write that pauses lets no later one of its owner overtake it, and others go on`() throws {
        let engine = MadeUpEngine()
        try engine.submit("1", of: "alice")
        #expect(engine.take(1) == ["1"])
        for (name, owner) in [("2", "alice"), ("b", "bob")] { try engine.submit(name, of: owner) }
        engine.finish(1, failing: .others)
        #expect(engine.run(1) == ["b"])
        let end = try #require(engine.sleepEnd(1))
        #expect((1_000_000...10_000_001).contains(end))
        engine.now = end
        #expect(engine.run(1) == ["1", "2"])
    }

    @Test func `A write of a final failure is refused, and not tried again`() throws {
        let engine = MadeUpEngine()
        try engine.submit("1", of: "alice")
        #expect(engine.take(1) == ["1"])
        engine.finish(1, failing: .final)
        #expect(engine.take(1) == [])
        #expect(engine.state.statistics.failedCommits == 1)
    }

    // MARK: Too much, and too long

    /// An engine with room for so many calls.
    private func engine(withRoomFor calls: Int) -> MadeUpEngine {
        MadeUpEngine { $0.mostBytes = calls * Job.callBytes }
    }

    @Test func `One owner gets a quarter of the room, and every other owner finds some`() throws {
        let engine = engine(withRoomFor: 400)
        try engine.submit(100, of: "alice")
        #expect(throws: StoreError.overloaded) { try engine.submit("101", of: "alice") }
        try engine.submit(75, of: "bob")
        #expect(throws: StoreError.overloaded) { try engine.submit("76", of: "bob") }
        for number in 0..<225 { try engine.submit("1", of: "owner \(number)") }
        #expect(throws: StoreError.overloaded) { try engine.submit("1", of: "zoe") }
        #expect(engine.state.statistics.refused == 3)
        #expect(engine.state.statistics.waitingWrites == 400)
    }

    @Test func `The room is what SECURITY.md says`() {
        let engine = MadeUpEngine()
        func accepted(_ owner: (Int) -> String) -> Int {
            var count = 0
            while case .success = Result(catching: { try engine.submit("1", of: owner(count)) }) { count += 1 }
            return count
        }
        #expect(accepted { _ in "alice" } == 1365)
        #expect(accepted { "owner \($0)" } == 5461 - 1365)
    }

    @Test func `What a call carries counts, and room is free when callers are answered, not before`() throws {
        let engine = engine(withRoomFor: 4)
        try engine.submit("1", of: "alice", payload: 3 * Job.callBytes)
        #expect(throws: StoreError.overloaded) { try engine.submit("1", of: "bob") }
        #expect(engine.take(1) == ["1"])
        #expect(throws: StoreError.overloaded) { try engine.submit("1", of: "bob") }
        engine.finish(1, failing: .others)
        #expect(throws: StoreError.overloaded) { try engine.submit("1", of: "bob") }
        engine.now += 10_000_000
        #expect(engine.run(1) == ["1"])
        for number in 0..<4 { try engine.submit("1", of: "owner \(number)") }
    }

    @Test func `Jobs that wait for longer than the patience are refused, in whatever place they wait`() throws {
        let engine = MadeUpEngine { $0.patience = 100 }
        try engine.submit("1", of: "alice", rows: 700)
        #expect(engine.take(1) == ["1"])
        for (name, owner, kind) in [("2", "alice", Job.Kind.write), ("b", "bob", .write), ("l", "bob", .list)] {
            engine.now += 1
            try engine.submit(name, of: owner, kind)
        }
        engine.now = 102
        #expect(engine.with { $0.takeOverdue(at: 102) }.map(\.name) == ["2"])
        #expect(Set(engine.with { $0.takeOverdue(at: 104) }.map(\.name)) == ["b", "l"])
        #expect(engine.state.statistics.refused == 3)
        engine.finish(1)
        #expect(engine.take(1) == [])
    }

    @Test func `A job that is tried again has waited since its caller came`() throws {
        let engine = MadeUpEngine { $0.patience = 100 }
        try engine.submit("1", of: "alice")
        #expect(engine.take(1) == ["1"])
        engine.now = 50
        engine.finish(1, failing: .others)
        #expect(engine.with { $0.takeOverdue(at: 100) }.isEmpty)
        #expect(engine.with { $0.takeOverdue(at: 101) }.map(\.name) == ["1"])
    }

    @Test func `While an owner's write is under way, no other session takes one, also after one was overdue`() throws {
        let engine = MadeUpEngine(writers: 2) { $0.patience = 100 }
        try engine.submit("1", of: "alice")
        #expect(engine.take(1) == ["1"])
        engine.now = 1
        try engine.submit("2", of: "alice")
        engine.now = 102
        #expect(engine.with { $0.takeOverdue(at: 102) }.map(\.name) == ["2"])
        try engine.submit("3", of: "alice")
        #expect(engine.take(2) == [])
        engine.finish(1)
        #expect(engine.take(2) == ["3"])
    }

    @Test func `Nothing stays of an owner whose calls were answered`() throws {
        let engine = MadeUpEngine()
        for number in 0..<20 {
            for kind in Job.Kind.allCases { try engine.submit("x", of: "owner \(number)", kind) }
        }
        let queues = { Mirror(reflecting: engine.state).descendant("waiting", "queues") as? [[Owner: OwnerQueue]] }
        #expect(queues()?.map(\.count) == [20, 20, 20])
        while !engine.run(0).isEmpty || !engine.run(1).isEmpty {}
        #expect(queues()?.map(\.count) == [0, 0, 0])
    }

    @Test func `A caller who has left takes a job along that waits, and no other`() throws {
        let engine = engine(withRoomFor: 4)
        for call in 1...3 { try engine.submit("\(call)", of: call == 1 ? "alice" : "bob \(call)", call: call) }
        #expect(engine.with { $0.waiting.withdraw(4, of: Owner("alice"), .write) } == nil)
        #expect(engine.with { $0.waiting.withdraw(1, of: Owner("alice"), .list) } == nil)
        #expect(engine.with { $0.waiting.withdraw(1, of: Owner("alice"), .write) } != nil)
        #expect(engine.take(1) == ["2", "3"])
        // What was begun goes on.
        #expect(engine.with { $0.waiting.withdraw(2, of: Owner("bob 2"), .write) } == nil)
        #expect(engine.state.statistics.refused == 0)
        for number in 0..<2 { try engine.submit("x", of: "owner \(number)") }
        #expect(throws: StoreError.overloaded) { try engine.submit("x", of: "owner 3") }
    }

    // MARK: Sessions

    @Test func `Without a session calls are refused at once with the reason, and jobs wait for the first ones`() throws
    {
        let engine = MadeUpEngine(areOpen: false)
        try engine.submit("1", of: "alice")
        #expect(engine.with { $0.takeJobsWithoutSession() }.jobs.isEmpty)
        engine.lose(0, "no host")
        #expect(engine.with { $0.takeJobsWithoutSession() }.jobs.isEmpty)
        engine.lose(1, "no host")
        #expect(engine.with { $0.takeJobsWithoutSession() }.jobs.map(\.name) == ["1"])
        #expect(engine.with { $0.takeJobsWithoutSession() }.error == .unavailable(reason: "no host"))
        #expect(throws: StoreError.unavailable(reason: "no host")) { try engine.submit("2", of: "alice") }
        engine.open(1)
        try engine.submit("3", of: "alice")
        #expect(engine.take(1) == ["3"])
    }

    @Test func `A session does the work of the other kind while no session of that kind is there, in turns`() throws {
        let engine = MadeUpEngine(readers: 1, writers: 2) { $0.mostReads = 1 }
        #expect(engine.take(0) == [])
        try engine.submit("w", of: "alice")
        #expect(engine.take(0) == [])
        engine.lose(1)
        #expect(engine.take(0) == [])
        engine.lose(2)
        for number in 1...3 { try engine.submit("r\(number)", of: "reader \(number)", .find) }
        try engine.submit("w2", of: "carol")
        #expect((0..<4).map { _ in engine.run(0) } == [["w", "w2"], ["r1"], ["r2"], ["r3"]])
        for number in 3...4 { try engine.submit("w\(number)", of: "owner \(number)", rows: 700) }
        for number in 4...5 { try engine.submit("r\(number)", of: "reader \(number)", .find) }
        #expect((0..<4).map { _ in engine.run(0) } == [["w3"], ["r4"], ["w4"], ["r5"]])
        engine.open(1)
        try engine.submit("w5", of: "alice")
        #expect(engine.take(0) == [])
        #expect(engine.take(1) == ["w5"])
    }

    @Test func `A session that idles is woken once, and one that works is not`() throws {
        let engine = MadeUpEngine(readers: 2)
        #expect(engine.sleepEnd(1) == .max)
        #expect(try engine.submit("1", of: "alice", .find) == 1)
        #expect(try engine.submit("2", of: "alice", .find) == nil)
        #expect(try engine.submit("3", of: "alice") == nil)
    }

    @Test func `Reads of single tasks wake an idle session, also while another one reads for the same owner`() throws {
        let engine = MadeUpEngine(readers: 2)
        #expect([engine.sleepEnd(0), engine.sleepEnd(1)] == [.max, .max])
        #expect(try engine.submit("1", of: "alice", .find) == 0)
        #expect(engine.take(0) == ["1"])
        #expect(try engine.submit("2", of: "alice", .find) == 1)
        #expect(engine.take(1) == ["2"])
    }

    // MARK: The end

    @Test func `A closed engine refuses later calls, and ends when those it accepted were taken`() throws {
        let engine = MadeUpEngine()
        try engine.submit("1", of: "alice", rows: 700)
        try engine.submit("2", of: "alice", rows: 700)
        try engine.submit("r", of: "alice", .find)
        #expect(engine.with { $0.close([.writes]) })
        #expect(!engine.with { $0.close([.writes]) })
        #expect(throws: StoreError.overloaded) { try engine.submit("3", of: "alice") }
        try engine.submit("r2", of: "alice", .find)
        #expect(!engine.state.isOver(.writes))
        #expect(engine.run(1) == ["1"])
        #expect(!engine.state.isOver(.writes))
        #expect(engine.take(1) == ["2"])
        #expect(engine.state.isOver(.writes))
        // A write that is tried again is one that was accepted.
        engine.finish(1, failing: .others)
        #expect(!engine.state.isOver(.writes))
        engine.now += 10_000_000
        #expect(engine.run(1) == ["2"])
        guard case .end = engine.state.take(for: 1, at: engine.now, until: .max) else {
            throw StoreError.broken(reason: "the session goes on")
        }
        #expect(engine.with { $0.close(SessionRole.allCases) })
        #expect(engine.with { $0.waiting.remove { _ in true } }.map(\.name) == ["r", "r2"])
    }

    // MARK: Reports

    @Test func `A failure is reported once until something is written, and a check writes meanwhile`() throws {
        let failure = ReportedFailure(code: "53100", reason: "full", isFull: true)
        let engine = MadeUpEngine()
        #expect(!engine.state.isHealthy)
        func write(_ report: ReportedFailure? = nil, hasWritten: Bool = true) throws {
            try engine.submit("1", of: "alice")
            _ = engine.take(1)
            engine.finish(1, hasWritten: hasWritten, failing: report.map { _ in .final }, report: report)
        }
        try write()
        #expect(engine.state.isHealthy)
        for _ in 0..<3 { try write(failure) }
        #expect(!engine.state.isHealthy)
        try write(hasWritten: false)
        #expect(!engine.state.isHealthy)
        #expect(engine.events == [.connected, .diskFull(reason: "full")])
        try write()
        #expect(engine.state.isHealthy)
        try write(failure)
        #expect(engine.events == [.connected, .diskFull(reason: "full"), .recovered, .diskFull(reason: "full")])
    }

    @Test func `Each outage is reported once, however many sessions are lost in it`() throws {
        let engine = MadeUpEngine(writers: 2)
        for _ in 0..<2 {
            for number in 0...2 { engine.lose(number, "the server stops") }
            for number in 0...2 { engine.open(number) }
        }
        let lost = StoreEvent.connectionLost(reason: "the server stops")
        #expect(engine.events == [.connected, lost, .connected, lost, .connected])
    }

    @Test func `Commits, writes and failures are counted`() throws {
        let engine = MadeUpEngine()
        for name in ["1", "2"] { try engine.submit(name, of: "alice") }
        for kind in [Job.Kind.list, .find] { try engine.submit("r", of: "alice", kind) }
        #expect(engine.state.statistics.waitingWrites == 2)
        #expect(engine.state.statistics.waitingReads == 2)
        _ = (engine.run(1), engine.run(0))
        let counts = engine.state.statistics
        #expect((counts.commits, counts.writes, counts.waitingReads) == (1, 2, 0))
    }
}
