import Basics
@testable import TaskArchive
import SQLiteStore
import Platform
import SQLite
import Support
import Synchronization
import Tasks
import Testing

@Suite("Backup, export and import of a SQLite database")
struct ArchiveTests {
    private let alice = Owner("alice")
    private let bob = Owner("b\"ob\u{E9}")
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file("tasks.db") }
    private var other: String { folder.file("other.db") }

    private func filled() async throws -> SQLiteTaskStore {
        let store = try SQLiteTaskStore.open(path: path)
        _ = try await store.added("caf\u{E9} \"1\"\n", completed: true, at: 1_472_575_720_123, of: alice)
        _ = try await store.added("cafe\u{301}", at: 1_472_575_720_124, of: alice)
        _ = try await store.change(2, TaskChange(completed: true), expected: nil, at: 1_472_575_720_125, of: alice)
        _ = try await store.added("bob's", of: bob)
        _ = try await store.added("gone", of: bob)
        #expect(try await store.remove(2, of: bob))
        return store
    }

    private func export(_ path: String) throws -> [String] { try TaskDatabase.sqlite(path).lines() }

    private func importLines(_ lines: [String], to path: String) throws -> ImportSummary {
        try TaskDatabase.sqlite(path).add(lines)
    }

    @Test
    func `An export has a line for each task, and one for an owner whose ids must not be given again`() async throws {
        let store = try await filled()
        defer { store.close() }
        #expect(
            try export(path).map { Array($0.utf8) }
                == [
                    #"{"owner":"alice","id":1,"text":"caf\#u{E9} \"1\"\n","completed":true,"#
                        + #""created":"2016-08-30T16:48:40.123Z","modified":"2016-08-30T16:48:40.123Z","revision":1}"#,
                    #"{"owner":"alice","id":2,"text":"cafe\#u{301}","completed":true,"#
                        + #""created":"2016-08-30T16:48:40.124Z","modified":"2016-08-30T16:48:40.125Z","revision":2}"#,
                    #"{"owner":"b\"ob\#u{E9}","id":1,"text":"bob's","completed":false,"#
                        + #""created":"1970-01-01T00:00:01.000Z","modified":"1970-01-01T00:00:01.000Z","revision":1}"#,
                    #"{"owner":"b\"ob\#u{E9}","next":3}"#, #"{"end":true,"tasks":3}"#,
                ].map { Array($0.utf8) })
    }

    @Test func `An import makes the same database, and repeating it changes nothing`() async throws {
        let store = try await filled()
        let (alices, bobs) = (try await store.list(.all, of: alice), try await store.list(.all, of: bob))
        store.close()
        let lines = try export(path)
        var summary = try importLines(lines, to: other)
        #expect((summary.added, summary.present, summary.differing, summary.end) == (3, 0, 0, .whole))
        summary = try importLines(lines + [""], to: other)
        #expect((summary.added, summary.present, summary.differing, summary.end) == (0, 3, 0, .whole))
        #expect(try export(other) == lines)
        // An older export, from when bob's other task was there, takes no ids back.
        let gone = lines[2].replacingFirst(#""id":1"#, with: #""id":2"#)
        #expect(try importLines([lines[3].replacingFirst("3", with: "9")], to: other).added == 0)
        #expect(try importLines([gone, lines[3]], to: other).added == 1)

        let copy = try SQLiteTaskStore.open(path: other)
        defer { copy.close() }
        #expect(try await copy.list(.all, of: alice) == alices)
        #expect(try await copy.remove(2, of: bob))
        #expect(try await copy.list(.all, of: bob) == bobs)
        #expect(try await copy.added("new", of: bob).id == 9)
        // The limit counts what was imported once.
        #expect(try await copy.add("x", limit: 2, of: alice) == .full)
    }

    /// Lines of owners in the order of an export: this many tasks of each.
    private func lines(_ counts: [String: Int]) -> [String] {
        counts.sorted { $0.key < $1.key }.flatMap { owner, count in
            (0..<count).map { exportLine(owner, $0 + 1) }
        }
    }

    @Test func `An owner with more tasks than a page is not divided, and the others keep their order`() throws {
        let counts = ["a": 1500, "b": 4500, "c": 0, "d": 1, "e": 1999, "f": 3]
        let lines = lines(counts) + [#"{"end":true,"tasks":8003}"#]
        #expect(try importLines(lines, to: path).end == .whole)
        #expect(try export(path) == lines)
        let seen = Mutex<[Int]>([])
        _ = try TaskDatabase.sqlite(path).export(to: { _ in }) { count in
            seen.withLock { $0.append(count) }
            return true
        }
        #expect(seen.withLock { $0 } == [0, 1500, 6000, 6001, 8000, 8003])
        #expect(try TaskDatabase.sqlite(path).countTasks() == 8003)
    }

    @Test
    func `A line in another form of JSON is the same line, and a repeated member is refused in every form`() throws {
        let usual = lines(["a": 1]) + [#"{"owner":"a","next":7}"#, #"{"end":true,"tasks":1}"#]
        let spaced = usual.map { $0.replacingFirst(":", with: " : ").replacingFirst("{", with: " { ") }
        let escaped = usual.map { $0.replacingFirst(#""a""#, with: #""\u0061""#) }
        let reordered = [
            #"{"revision":1,"modified":"2016-08-30T16:48:40.123Z","created":"2016-08-30T16:48:40.123Z","#
                + #""completed":false,"text":"t","id":1,"owner":"a"}"#, #"{"next":7,"owner":"a"}"#,
            #"{"tasks":1,"end":true}"#,
        ]
        for (index, lines) in [usual, spaced, escaped, reordered].enumerated() {
            let path = folder.file("\(index).db")
            #expect(try importLines(lines, to: path).end == .whole, "\(index)")
            #expect(try export(path) == usual, "\(index)")
        }
        for repeated in [#"{"owner":"a","next":7,"next":8}"#, #"{ "owner":"a","next":7,"next":8}"#] {
            #expect(throws: OperatorError.self) { try importLines([repeated], to: path) }
        }
    }

    @Test func `An import says whether the lines were whole, and how many tasks differ from them`() throws {
        let three = lines(["a": 2, "b": 1])
        #expect(try importLines(three, to: path).end == .cut)
        #expect(try importLines([], to: path).end == .cut)
        let end = #"{"end":true,"tasks":3}"#
        #expect(try importLines(three + [end], to: path).end == .whole)
        #expect(try importLines(three + [end] + three, to: path).end == .cut)
        #expect(try importLines(three + [end] + three + [end], to: path).end == .whole)
        for wrong in [three.dropFirst() + [end], three[...] + ["", three[0], end]] {
            #expect(throws: OperatorError.self) { try importLines(Array(wrong), to: path) }
        }
        let changed = three.map { $0.replacingFirst(#""text":"t""#, with: #""text":"T""#) }
        let summary = try importLines(Array(changed.prefix(1)) + three.dropFirst() + [end], to: path)
        #expect((summary.added, summary.present, summary.differing) == (0, 3, 1))
        #expect(try export(path) == three + [end])
    }

    @Test
    func `An import stops when requested and continues later, and an export stops without its last line`() throws {
        let all = lines(["a": 2500, "b": 2500]) + [#"{"end":true,"tasks":5000}"#]
        var rest = all[...]
        let first = try TaskDatabase.sqlite(path).importLines { () throws(SystemError) in
            rest.popFirst().map { Array($0.utf8) }
        } shouldContinue: {
            $0.tasks < 2000
        }
        #expect((first.added, first.end) == (2000, .stopped))
        let second = try importLines(all, to: path)
        #expect((second.added, second.present, second.end) == (3000, 2000, .whole))
        let written = Mutex<[String]>([])
        let stopped = try TaskDatabase.sqlite(path).export(
            to: { line in written.withLock { $0.append(String(decoding: line, as: UTF8.self)) } },
            shouldContinue: { $0 < 1 })
        #expect(!stopped.isWhole && stopped.tasks == 2500)
        #expect(written.withLock { $0 } == Array(all.prefix(2500)))
        // A transaction of long lines has fewer of them: not more than 4 MiB.
        let notes = #","notes":"\#(String(repeating: "n", count: 10_000))"}"#
        var long = lines(["c": 450]).map { $0.replacingFirst("}", with: notes) }[...]
        let part = try TaskDatabase.sqlite(path).importLines { () throws(SystemError) in
            long.popFirst().map { Array($0.utf8) }
        } shouldContinue: {
            $0.added == 0
        }
        #expect(part.end == .stopped && part.added < 450)
    }

    @Test func `A page of an export has few owners who may have many idempotency keys, and many who cannot`() throws {
        for (tasks, next, count) in [(0, 5000, 3), (20, 5000, 2), (0, 1, 500), (10_000, 10_001, 1)]
            as [(Int64, Int64, Int)]
        {
            let counts = try OwnerCounts(storedNext: next, tasks: tasks)
            #expect(ExportPage.choose((0..<500).map { (Owner("\(1000 + $0)"), counts) }).count == count)
        }
    }

    /// The line of an idempotency key that was used this many milliseconds ago.
    private func key(_ owner: String, _ name: String, ago: Int64 = 60_000, text: String = "t") -> String {
        let added = Timestamp(milliseconds: SystemTime().wallMilliseconds - ago).text
        return #"{"owner":"\#(owner)","key":"\#(name)","fingerprint":"ff","id":1,"text":"\#(text)","completed":true,"#
            + #""created":"\#(added)"}"#
    }

    @Test func `Keys that are still remembered are imported once, and are counted`() throws {
        let old = key("a", "b", ago: IdempotencyKey.lifetime + 1)
        // A minute is left, for machines that are busy.
        let young = key("a", "b", ago: IdempotencyKey.lifetime - 60_000, text: "again")
        let tasks = lines(["a": 2])
        let first = tasks + [key("a", "a"), old, #"{"end":true,"tasks":2,"keys":2}"#]
        #expect(try importLines(first, to: path).end == .whole)
        let kept = tasks + [first[2], #"{"end":true,"tasks":2,"keys":1}"#]
        #expect(try export(path) == kept)
        // Existing keys stay; expired ones may be imported again, also over a row that is not removed yet.
        do {
            let database = try Connection(path: path, mode: .readWrite)
            #expect(try database.integer("SELECT count(*) FROM attempts") == 1)
            try database.execute(
                """
                INSERT INTO attempts(owner, key, fingerprint, time, id, text, completed)
                VALUES ('a', 'b', 1, 5, 1, 't', 0)
                """)
        }
        #expect(try export(path) == kept)
        let other = tasks + [key("a", "a", text: "other"), young, #"{"end":true,"tasks":2,"keys":2}"#]
        for _ in 0..<2 { #expect(try importLines(other, to: path).added == 0) }
        #expect(try export(path) == tasks + [first[2], young, #"{"end":true,"tasks":2,"keys":2}"#])
        for end in [#"{"end":true,"tasks":2}"#, #"{"end":true,"tasks":2,"keys":1}"#] {
            #expect(throws: OperatorError.self) { try importLines(other.dropLast() + [end], to: path) }
        }
        // The id of a key is not given again, even if no other line has it.
        let lone = key("b", "k")
        #expect(try importLines([lone], to: self.other).added == 0)
        #expect(try export(self.other) == [lone, #"{"owner":"b","next":2}"#, #"{"end":true,"tasks":0,"keys":1}"#])
    }

    private static let wrongDetails = [
        ("due", #""due":"2027-02-29""#), ("due", #""due":null"#), ("notes", #""notes":"""#), ("notes", #""notes":1"#),
        ("position", #""position":"1""#), ("position", #""position":9007199254740993"#),
        ("position", #""position":1e300"#), ("position", #""position":null"#),
    ]

    @Test func `A wrong line stops an import; the error has its number and none of its values`() throws {
        func improper(_ member: String) -> String { "'\(member)' is missing or has no proper value" }
        let good = #"{"owner":"alice","next":5}"#
        let task = exportLine("alice", 1, "secret")
        for (bad, reason) in [
            ("{", "no JSON at byte 1"), ("[]", "no JSON at byte 0"),
            ("{}", improper("owner")),
            (task.replacingFirst(":1,", with: ":0,"), improper("id")),
            (task.replacingFirst(":1,", with: ":9007199254740992,"), improper("id")),
            (task.replacingFirst(":1}", with: ":9007199254740992}"), improper("revision")),
            (good.replacingFirst("5", with: "9007199254740993"), improper("next")),
            (task.replacingFirst("alice", with: "ali\\u0000ce"), improper("owner")),
            (task.replacingFirst("alice", with: "alice\\n"), improper("owner")),
            (good.replacingFirst("alice", with: String(repeating: "o", count: 274)), improper("owner")),
            (task.replacingFirst("secret", with: ""), "'text' is not 1 to 4096 bytes without U+0000"),
            (task.replacingFirst("40.123Z", with: "40Z"), improper("created")),
            (task.replacingFirst(":1}", with: ":1,\"more\":1}"), "members that no export has"),
            (key("a", ""), improper("key")),
            (key("a", "\u{E9}"), improper("key")),
            (key("a", "k").replacingFirst("ff", with: "0ff"), improper("fingerprint")),
            (key("a", "k").replacingFirst("}", with: ",\"more\":1}"), "members that no export has"),
            (#"{"end":true,"tasks":0,"keys":0}"#, improper("keys")),
        ]
            + Self.wrongDetails.map({
                (exportLine("alice", 1, "secret", ",\($1)"), improper($0))
            })
        {
            let error = #expect(throws: OperatorError.self) { _ = try importLines([good, bad, good], to: path) }
            #expect(error?.failure == "line 2: \(reason)")
            #expect(error?.message.contains("secret") == false)
        }
        #expect(try export(path) == [good, #"{"end":true,"tasks":0}"#])
    }
}

extension String {
    /// The string with another text in the place of the first occurrence of one.
    fileprivate func replacingFirst(_ part: String, with other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
