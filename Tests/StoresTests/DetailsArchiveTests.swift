import Basics
import JSON
import Platform
import PostgreSQLStore
import SQLiteStore
import Support
import TaskArchive
import Tasks
import Testing

@Suite("Copies of tasks with details")
struct DetailsArchiveTests {
    private let alice = Owner("alice")
    private let key = IdempotencyKey(key: "k", fingerprint: 7)
    /// Now, because an import takes no expired keys.
    private let start = SystemTime().wallMilliseconds
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A new database of each kind.
    private func archives() throws -> [TaskDatabase] {
        [
            TaskDatabase.sqlite(folder.file("tasks.db")),
            TaskDatabase.postgreSQL(try PostgreSQLServer.started().newDatabase()),
        ]
    }

    @Test func `Tasks with details, and idempotency keys, move from SQLite to PostgreSQL and back`() async throws {
        let path = folder.file("old.db")
        let store = try SQLiteTaskStore.open(path: path)
        let details = TaskDetails([
            .due: .string("2028-02-29"), .notes: .string("two\r\nlines \"caf\u{E9}\""), .position: .real(-2.5),
        ])
        let full = try await store.added("full", details: details, at: start, of: alice)
        let keyed = try await store.added("keyed", details: details, at: start, key: key, of: alice)
        let tenth = TaskDetails([.position: .real(0.1)])
        let old = IdempotencyKey(key: "old", fingerprint: 1)
        let items = [
            full, keyed, try await store.added("bare", of: alice),
            try await store.added("tenth", details: tenth, of: alice),
            try await store.added("all", details: .example, of: alice),
            try await store.added("old", at: start - IdempotencyKey.lifetime, key: old, of: alice),
        ]
        // Only the key of this task is left.
        let other = IdempotencyKey(key: "k \"1\"", fingerprint: .max)
        let gone = try await store.added("gone", completed: true, at: start, key: other, of: alice)
        #expect(try await store.remove(gone.id, of: alice))
        store.close()
        let exported = try TaskDatabase.sqlite(path).lines()
        let members = #","due":"2028-02-29","notes":"two\r\nlines \"café\"","position":-2.5}"#
        #expect(exported[0].hasSuffix(#""revision":1"# + members), "\(exported[0])")
        #expect(exported[2].hasSuffix(#""revision":1}"#))
        #expect(exported[3].hasSuffix(#""revision":1,"position":0.1}"#))
        #expect(exported.contains { $0.hasPrefix(#"{"owner":"alice","key":"k","#) && $0.hasSuffix(members) })
        #expect(exported.last == #"{"end":true,"tasks":6,"keys":2}"#)

        let address = try PostgreSQLServer.started().newDatabase()
        let copy = folder.file("new.db")
        var from = exported
        for archive in [TaskDatabase.postgreSQL(address), TaskDatabase.sqlite(copy)] {
            let first = try archive.add(from)
            #expect((first.added, first.end) == (6, .whole))
            let again = try archive.add(exported)
            #expect((again.added, again.present, again.differing) == (0, 6, 0))
            from = try archive.lines()
            #expect(from.map { Array($0.utf8) } == exported.map { Array($0.utf8) })
        }
        for store in [try PostgreSQLTaskStore.open(address), try SQLiteTaskStore.open(path: copy)] as [any TaskStore] {
            defer { store.close() }
            #expect(try await store.lists(items, of: alice))
            let retry = try await store.add("keyed", details: details, at: start, key: key, of: alice)
            #expect(retry == .repeated(keyed))
            let late = try await store.add("gone", completed: true, at: start + 9, key: other, of: alice)
            #expect(late == .repeated(gone))
            let reused = IdempotencyKey(key: other.key, fingerprint: 7)
            #expect(try await store.add("y", at: start + 9, key: reused, of: alice) == .keyReused)
        }
    }

    @Test func `A task that differs only in a detail differs, in both databases`() throws {
        func line(_ members: String) -> String { exportLine("alice", 1, "x", members) }
        let details = TaskDetail.allCases.map { #","\#($0.name)":\#($0.samples[0].rendered)"# }
        for archive in try archives() {
            #expect(try archive.add([line(details.joined())]).added == 1)
            #expect(try archive.add([line(details.joined())]).differing == 0)
            for number in details.indices {
                var fewer = details
                fewer.remove(at: number)
                let summary = try archive.add([line(fewer.joined())])
                #expect((summary.added, summary.differing) == (0, 1), "without \(details[number])")
            }
        }
    }

    @Test func `An import adds only the keys of the newest thousand tasks, to both databases`() throws {
        let created = Timestamp(milliseconds: start).text
        let lines = (1...1500).map { number in
            #"{"owner":"alice","key":"k\#(number)","fingerprint":"1","id":\#(number),"text":"x","completed":false,"#
                + #""created":"\#(created)"}"#
        }
        for archive in try archives() {
            _ = try archive.add(lines)
            #expect(try archive.lines().last == #"{"end":true,"tasks":0,"keys":1000}"#)
        }
    }
}
