import Tasks
import Testing

@testable import StoreEngine

@Suite("Turns of the owners whose jobs wait")
struct TurnTests {
    /// The names of the writes of one transaction after the other; one with a long write takes 10 ns, others take 1.
    private func transactions(_ engine: MadeUpEngine) -> [String] {
        var found: [String] = []
        let end = engine.now + 1000
        while engine.now < end {
            let names = engine.take(1)
            engine.now += engine.underWay[1]?.contains { $0.weight > 100 } ?? false ? 10 : 1
            engine.finish(1)
            if !names.isEmpty { found.append(names.joined(separator: " ")) }
        }
        return found
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

    @Test func `A list counts as sixteen reads of one task`() throws {
        let engine = MadeUpEngine { $0.mostReads = 1 }
        for number in 1...3 { try engine.submit("list\(number)", of: "alice", .list) }
        try engine.submit(40, of: "bob", .find)
        let order = (0..<43).map { _ in engine.run(0)[0] }
        #expect(order.indices { $0.hasPrefix("list") }.ranges.map(\.lowerBound) == [0, 17, 34])
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

    @Test func `Owners with long writes take turns by rows, however many one of them has`() throws {
        let engine = MadeUpEngine()
        for number in 1...3 { try engine.submit("a\(number)", of: "alice", rows: 700) }
        for number in 1...2 { try engine.submit("b\(number)", of: "bob", rows: 700) }
        try engine.submit("c1", of: "carol", rows: 700)
        #expect(transactions(engine) == ["a1", "b1", "c1", "a2", "b2", "a3"])
        let rest = MadeUpEngine()
        for number in 1...2 { try rest.submit("a\(number)", of: "alice", rows: 1000) }
        for number in 1...5 { try rest.submit("b\(number)", of: "bob", rows: 300) }
        #expect(transactions(rest) == ["a1", "b1", "b2", "b3", "b4", "a2", "b5"])
    }

    @Test func `While short writes come, a long one waits four times as long as the one before it took`() throws {
        let engine = MadeUpEngine()
        for owner in ["alice", "bob"] { try engine.submit("long", of: owner, rows: 700) }
        #expect(engine.run(1, for: 10) == ["long"])
        while engine.now < 50 {
            try engine.submit("short", of: "carol")
            #expect(engine.run(1) == ["short"])
        }
        try engine.submit("short", of: "carol")
        #expect(engine.run(1) == ["long"])
        // Nobody else waits, and yet the next one lets short writes come.
        try engine.submit("long", of: "bob", rows: 700)
        #expect(engine.run(1) == ["short"])
        #expect(engine.sleepEnd(1) == 55)
        engine.now = 55
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
