import Platform
import SQLite
import Synchronization
import TaskStores
import Tasks
import Testing

@Suite("Backup, export and import, beside a running store")
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

    private func export(_ path: String) throws -> [String] {
        let lines = Mutex<[String]>([])
        _ = try TaskArchive(path: path).export { line throws(SystemError) in
            lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }
        return lines.withLock { $0 }
    }

    private func importLines(_ lines: [String], to path: String) throws -> ImportSummary {
        var rest = lines[...]
        return try TaskArchive(path: path).importLines { () throws(SystemError) in
            rest.popFirst().map { Array($0.utf8) }
        }
    }

    @Test("an export is one line a task, and one where ids must not come again")
    func export() async throws {
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
                    #"{"owner":"b\"ob\#u{E9}","next":3}"#,
                ].map { Array($0.utf8) })
    }

    @Test("an import makes the same database, and repeating it changes nothing")
    func roundTrip() async throws {
        let store = try await filled()
        let (alices, bobs) = (try await store.list(.all, of: alice), try await store.list(.all, of: bob))
        store.close()
        let lines = try export(path)
        var summary = try importLines(lines, to: other)
        #expect((summary.added, summary.present) == (3, 0))
        summary = try importLines(lines + [""], to: other)
        #expect((summary.added, summary.present) == (0, 3))
        #expect(try export(other) == lines)

        let copy = try SQLiteTaskStore.open(path: other)
        defer { copy.close() }
        #expect(try await copy.list(.all, of: alice) == alices)
        #expect(try await copy.list(.all, of: bob) == bobs)
        #expect(try await copy.added("new", of: bob).id == 3)
        // The limit counts what was imported once.
        #expect(try await copy.add("x", limit: 2, of: alice) == .full)
    }

    @Test("more than a page comes whole and in order")
    func pages() async throws {
        let lines = (1...1203).map { number in
            #"{"owner":"o\#(number % 2)","id":\#((number + 1) / 2),"text":"t\#(number)","completed":false,"#
                + #""created":"2016-08-30T16:48:40.123Z","modified":"2016-08-30T16:48:40.123Z","revision":1}"#
        }
        #expect(try importLines(lines, to: path).added == 1203)
        #expect(try export(path).sorted() == lines.sorted())
    }

    @Test("an import beside a running store is seen by its readers")
    func besideAStore() async throws {
        let store = try await filled()
        defer { store.close() }
        _ = try await store.list(.all, of: alice)
        let line =
            #"{"owner":"alice","id":9,"text":"imported","completed":false,"created":"2016-08-30T16:48:40.123Z","#
            + #""modified":"2016-08-30T16:48:40.123Z","revision":4}"#
        #expect(try importLines([line], to: path).added == 1)
        try await store.check()
        let list = try await store.list(.all, of: alice)
        #expect(String(decoding: list.json, as: UTF8.self).contains("imported"))
        #expect(try await store.added("next", of: alice).id == 10)
    }

    @Test("a wrong line stops an import, named by its number, without its words")
    func wrongLine() throws {
        let good = #"{"owner":"alice","next":5}"#
        let task =
            #"{"owner":"alice","id":1,"text":"secret","completed":false,"created":"2016-08-30T16:48:40.123Z","#
            + #""modified":"2016-08-30T16:48:40.123Z","revision":1}"#
        for (bad, reason) in [
            ("{", "no JSON at byte 1"), ("[]", "no JSON at byte 0"),
            ("{}", "'owner' is missing or has no proper value"),
            (task.replacingFirst(":1,", with: ":0,"), "'id' is missing or has no proper value"),
            (task.replacingFirst("secret", with: ""), "'text' is not 1 to 4096 bytes without U+0000"),
            (task.replacingFirst("40.123Z", with: "40Z"), "'created' is missing or has no proper value"),
            (task.replacingFirst(":1}", with: ":1,\"more\":1}"), "members that no export has"),
        ] {
            let error = #expect(throws: ArchiveError.self) { _ = try importLines([good, bad, good], to: path) }
            #expect(error == .line(number: 2, reason: reason))
            #expect(error?.words.contains("secret") == false)
        }
        #expect(try export(path) == [good])
    }

    @Test("a backup is a database of its own, readable by its owner alone")
    func backup() async throws {
        let store = try await filled()
        defer { store.close() }
        try TaskArchive(path: path).backup(to: other)
        #expect(try export(other) == export(path))
        #expect(!File.exists(other + ".partial"))
        let copy = try SQLiteTaskStore.open(path: other)
        defer { copy.close() }
        #expect(try await copy.list(.all, of: alice) == store.list(.all, of: alice))
        #expect(try await copy.added("new", of: bob).id == 3)
    }

    @Test("a backup replaces nothing")
    func backupTarget() async throws {
        let store = try await filled()
        defer { store.close() }
        try File.replace(other, with: [1, 2, 3])
        #expect(throws: ArchiveError.targetExists(path: other)) { try TaskArchive(path: path).backup(to: other) }
        #expect(try File.read(other) == [1, 2, 3])
        #expect(throws: ArchiveError.self) { try TaskArchive(path: path).backup(to: "/nonexistent/b.db") }
    }

    @Test("without a database there is nothing to back up or export, and none is made")
    func missing() {
        let missing = StoreOpenError.missing(path: path)
        #expect(throws: ArchiveError.database(missing)) { try TaskArchive(path: path).backup(to: other) }
        #expect(throws: ArchiveError.database(missing)) { _ = try export(path) }
        #expect(!File.exists(path))
        #expect(!File.exists(other))
    }
}

extension String {
    /// The string with another text in the place of the first occurrence of one.
    fileprivate func replacingFirst(_ part: String, with other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
