import Tasks
import Testing

@testable import StoreEngine

@Suite("Turns of the owners whose jobs wait")
struct TurnTests {
    /// The names of the writes of one transaction after the other, until none waits.
    private func transactions(_ engine: MadeUpEngine) -> [String] {
        let names = sequence(state: engine) { engine -> [String]? in engine.run(1) }
        return names.prefix { !$0.isEmpty }.map { $0.joined(separator: " ") }
    }

    @Test func `A person with one write waits for one turn of each other person, however much they ask for`() throws {
        let engine = MadeUpEngine()
        for name in ["alice", "bob"] { try engine.submit(1000, of: name) }
        #expect(engine.run(1).count == 256)
        try engine.submit("carol", of: "carol")
        let names = engine.run(1)
        #expect(names[..<16].allSatisfy { $0 == "alice" } && names[16..<32].allSatisfy { $0 == "bob" })
        #expect(names[32] == "carol")
        #expect(names.count { $0 == "alice" } <= names.count { $0 == "bob" } + 16)
    }

    @Test func `A person with one read waits for one list of each other person, however many they ask for`() throws {
        let engine = MadeUpEngine(readers: 2) { $0.mostReads = 1 }
        for number in 1...60 {
            try engine.submit("a\(number)", of: "alice", .list)
            try engine.submit("b\(number)", of: "bob", .list)
        }
        #expect(engine.take(0) == ["a1"])
        #expect(engine.take(1) == ["b1"])
        try engine.submit("carol", of: "carol", .find)
        engine.finish(0)
        #expect(engine.take(0) == ["carol"])
        engine.finish(1)
        #expect(engine.take(1) == ["a2"])
    }

    @Test func `A turn is one list, or sixteen reads of one task`() throws {
        let engine = MadeUpEngine { $0.mostReads = 1 }
        for number in 1...3 { try engine.submit("list\(number)", of: "alice", .list) }
        try engine.submit(40, of: "bob", .find)
        let turns = (0..<6).map { _ in engine.run(0) }
        #expect(turns.map(\.count) == [1, 16, 1, 16, 1, 8])
        #expect(turns.map { $0[0] } == ["list1", "bob", "list2", "bob", "list3", "bob"])
    }

    @Test(arguments: [Job.Kind.list, .write])
    func `An owner whose turn ends comes after all who wait then`(kind: Job.Kind) throws {
        let engine = MadeUpEngine { $0.mostReads = 1 }
        let session = kind == .list ? 0 : 1
        for name in ["1", "2"] { try engine.submit(name, of: "alice", kind, rows: kind == .list ? 1 : 700) }
        #expect(engine.take(session) == ["1"])
        try engine.submit("b", of: "bob", kind, rows: kind == .list ? 1 : 700)
        engine.finish(session)
        #expect([engine.run(session), engine.run(session)] == [["b"], ["2"]])
    }

    @Test func `Reads of one task are taken together, and of each owner one list at a time`() throws {
        let engine = MadeUpEngine(readers: 2)
        for number in 1...3 { try engine.submit("a\(number)", of: "alice", .list) }
        try engine.submit("b", of: "bob", .list)
        for number in 1...3 { try engine.submit("f\(number)", of: "alice", .find) }
        #expect(Set(engine.take(0)) == ["a1", "b", "f1", "f2", "f3"])
        // The owner's next list waits for the session that reads the first, and reads of one task do not.
        #expect(engine.take(1) == [])
        try engine.submit("f4", of: "alice", .find)
        #expect(engine.take(1) == ["f4"])
        engine.finish(0)
        #expect(engine.take(0) == ["a2"])
    }

    @Test func `A batch has as many reads as a session takes, and another session takes the rest`() throws {
        let engine = MadeUpEngine(readers: 2)
        #expect(engine.take(1) == [])
        try engine.submit(70, of: "alice", .find)
        #expect(engine.sleepEnd(1) == nil)
        #expect(engine.take(0).count == 6 && engine.woken == nil)
    }

    @Test func `A session that takes one of the jobs that are tried again wakes another one for the rest`() throws {
        let engine = MadeUpEngine(writers: 2)
        for owner in ["alice", "bob"] { try engine.submit(owner, of: owner) }
        #expect(engine.take(1) == ["alice", "bob"])
        #expect(engine.sleepEnd(2) == .max)
        engine.finish(1, failing: .oneJob)
        #expect(engine.take(1) == ["alice"] && engine.woken == 2)
        #expect(engine.take(2) == ["bob"] && engine.woken == nil)
    }

    @Test func `Short writes share a transaction of 256 rows; a long one has one of its own, after them`() throws {
        let engine = MadeUpEngine()
        try engine.submit("list", of: "alice", rows: 700)
        for number in 0..<17 { try engine.submit("\(number)", of: "owner \(number)", rows: 16) }
        #expect(engine.run(1) == (0..<16).map(String.init))
        #expect(engine.run(1) == ["list"])
        #expect(engine.run(1) == ["16"])
    }

    @Test func `The writes of one owner keep their order`() throws {
        let engine = MadeUpEngine()
        for (name, rows) in [("1", 1), ("2", 700), ("3", 1), ("4", 700)] {
            try engine.submit(name, of: "alice", rows: rows)
            if rows == 1 { try engine.submit("b\(name)", of: "bob") }
        }
        #expect(transactions(engine) == ["1 b1 b3", "2", "3", "4"])
    }

    @Test func `Owners with long writes take turns, however many one of them has`() throws {
        let engine = MadeUpEngine()
        for number in 1...3 { try engine.submit("a\(number)", of: "alice", rows: 700) }
        for number in 1...2 { try engine.submit("b\(number)", of: "bob", rows: 300) }
        try engine.submit("c1", of: "carol", rows: 700)
        #expect(transactions(engine) == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test func `A short write waits for one long write, however many owners have some`() throws {
        let engine = MadeUpEngine()
        for number in 0..<20 {
            for _ in 0..<2 { try engine.submit("long", of: "owner \(number)", rows: 700) }
        }
        #expect(engine.take(1) == ["long"])
        for owner in ["carol", "dave"] { try engine.submit(owner, of: owner) }
        engine.finish(1)
        #expect(engine.run(1) == ["carol", "dave"])
        // After a long write that kept somebody waiting, the next one comes after four times as long as it took.
        try engine.submit("carol", of: "carol")
        #expect([engine.run(1, for: 10), engine.run(1)] == [["long"], ["carol"]])
        #expect(engine.sleepEnd(1) == engine.now + 39)
        engine.now += 39
        #expect(engine.run(1) == ["long"])
    }

    @Test func `Where two sessions write, one of them does no long write`() throws {
        let engine = MadeUpEngine(writers: 2)
        for owner in ["alice", "bob"] { try engine.submit("long", of: owner, rows: 700) }
        #expect(engine.take(1) == ["long"])
        #expect(engine.take(2) == [])
        try engine.submit("short", of: "carol")
        #expect(engine.take(2) == ["short"])
        engine.finish(1)
        #expect(engine.take(1) == ["long"])
    }

    @Test func `Writes of one owner wait while another session writes for that owner, and wake nobody`() throws {
        let engine = MadeUpEngine(writers: 2)
        try engine.submit("1", of: "alice")
        #expect(engine.take(1) == ["1"])
        #expect(engine.take(2) == [])
        #expect(try engine.submit("2", of: "alice") == nil)
        #expect(try engine.submit("b", of: "bob") == 2)
        #expect(engine.take(2) == ["b"])
        engine.finish(1)
        #expect(engine.take(1) == ["2"])
    }

    @Test func `Where a transaction must have one owner, others wait for the next one`() throws {
        let engine = MadeUpEngine { $0.sharesTransactions = false }
        for (name, owner) in [("1", "alice"), ("2", "bob"), ("3", "alice")] { try engine.submit(name, of: owner) }
        #expect(transactions(engine) == ["1 3", "2"])
    }
}
