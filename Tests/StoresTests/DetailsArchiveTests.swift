import Basics
import JSON
import Platform
import PostgreSQLStore
import SQLiteStore
import Support
import TaskArchive
import Tasks
import Testing

@Suite("Copies of tasks with details", .timeLimit(.minutes(15)))
struct DetailsArchiveTests {
    private let alice = Owner("alice")
    private let key = IdempotencyKey(key: "k", fingerprint: 7)
    /// Now, because an import takes no expired keys.
    private let start = SystemTime().wallMilliseconds
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func lines(_ archive: any LineArchive) throws -> [String] {
        var lines: [String] = []
        _ = try archive.export { (line: [UInt8]) throws(SystemError) in
            lines.append(String(decoding: line, as: UTF8.self))
        }
        return lines
    }

    private func add(_ lines: [String], to archive: any LineArchive) throws -> ImportSummary {
        var rest = lines[...]
        return try archive.importLines { () throws(SystemError) in rest.popFirst().map { Array($0.utf8) } }
    }

    @Test("Details move from SQLite to PostgreSQL and back, with those of idempotency keys")
    func moving() async throws {
        let path = folder.file("old.db")
        let store = try SQLiteTaskStore.open(path: path)
        let details = TaskDetails([
            .due: .string("2028-02-29"), .notes: .string("two\r\nlines \"caf\u{E9}\""), .position: .real(-2.5),
        ])
        let full = try await store.added("full", details: details, at: start, of: alice)
        let outcome = try await store.add("keyed", details: details, at: start, attempt: key, of: alice)
        guard case .added(let keyed) = outcome else { throw UnexpectedOutcome(outcome: outcome) }
        let tenth = TaskDetails([.position: .real(0.1)])
        let items = [
            full, keyed, try await store.added("bare", of: alice),
            try await store.added("tenth", details: tenth, of: alice),
            try await store.added("all", details: .example, of: alice),
        ]
        store.close()
        let exported = try lines(SQLiteArchive(path: path))
        let members = #","due":"2028-02-29","notes":"two\r\nlines \"café\"","position":-2.5}"#
        #expect(exported[0].hasSuffix(#""revision":1"# + members), "\(exported[0])")
        #expect(exported[2].hasSuffix(#""revision":1}"#))
        #expect(exported[3].hasSuffix(#""revision":1,"position":0.1}"#))
        #expect(exported[5].hasPrefix(#"{"owner":"alice","key":"k""#) && exported[5].hasSuffix(members))

        let address = try PostgreSQLServer.started().newDatabase()
        let copy = folder.file("new.db")
        var from = exported
        for archive in [PostgreSQLArchive(address), SQLiteArchive(path: copy)] as [any LineArchive] {
            let first = try add(from, to: archive)
            #expect((first.added, first.end) == (5, .whole))
            let again = try add(exported, to: archive)
            #expect((again.added, again.present, again.differing) == (0, 5, 0))
            from = try lines(archive)
            #expect(from == exported)
        }
        for store in [try PostgreSQLTaskStore.open(address), try SQLiteTaskStore.open(path: copy)] as [any TaskStore] {
            defer { store.close() }
            #expect(try await store.lists(items, of: alice))
            let retry = try await store.add("keyed", details: details, at: start, attempt: key, of: alice)
            #expect(retry == .repeated(keyed))
        }
    }

    @Test("A task that differs only in a detail differs, in both databases")
    func differing() throws {
        func line(_ members: String) -> String {
            #"{"owner":"alice","id":1,"text":"x","completed":false,"created":"2016-08-30T16:48:40.123Z","#
                + #""modified":"2016-08-30T16:48:40.123Z","revision":1\#(members)}"#
        }
        let details = TaskDetail.allCases.map { #","\#($0.name)":\#($0.samples[0].rendered)"# }
        let archives: [any LineArchive] = [
            SQLiteArchive(path: folder.file("tasks.db")),
            PostgreSQLArchive(try PostgreSQLServer.started().newDatabase()),
        ]
        for archive in archives {
            #expect(try add([line(details.joined())], to: archive).added == 1)
            #expect(try add([line(details.joined())], to: archive).differing == 0)
            for number in details.indices {
                var fewer = details
                fewer.remove(at: number)
                let summary = try add([line(fewer.joined())], to: archive)
                #expect((summary.added, summary.differing) == (0, 1), "without \(details[number])")
            }
        }
    }

    @Test(
        "A line with a detail that is not valid is refused by its name",
        arguments: [
            (#""due":"2027-02-29""#, "due"), (#""due":null"#, "due"), (#""notes":"""#, "notes"),
            (#""notes":1"#, "notes"), (#""position":"1""#, "position"), (#""position":9007199254740993"#, "position"),
            (#""position":1e300"#, "position"), (#""position":null"#, "position"),
        ])
    func wrongLine(members: String, name: String) throws {
        let line =
            #"{"owner":"alice","id":1,"text":"x","completed":false,"created":"2016-08-30T16:48:40.123Z","#
            + #""modified":"2016-08-30T16:48:40.123Z","revision":1,\#(members)}"#
        let error = #expect(throws: OperatorError.self) {
            try add([line], to: SQLiteArchive(path: folder.file("tasks.db")))
        }
        #expect(error?.failure == "line 1: '\(name)' is missing or has no proper value")
    }
}
