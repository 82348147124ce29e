import Basics
import TaskArchive
import PostgreSQLStore
import SQLiteStore
import Platform
import Support
import Tasks
import Testing

@Suite("A request that is repeated after its owner has moved", .timeLimit(.minutes(15)))
struct MovingKeysTests {
    private let alice = Owner("alice")
    private let key = IdempotencyKey(key: "k \"1\"", fingerprint: .max)
    private let start = SystemTime().wallMilliseconds
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func move(_ source: TaskDatabase, to target: TaskDatabase) throws -> [[UInt8]] {
        let lines = try source.lines()
        // The second time finds everything there.
        for _ in 0..<2 { #expect(try target.add(lines).end == .whole) }
        return lines.map { Array($0.utf8) }
    }

    /// Repeats the request, and checks what else could be wrong with the key.
    private func retry(_ added: TaskItem, on store: some TaskStore) async throws {
        let again = try await store.add("x", completed: true, at: start + 9, attempt: key, of: alice)
        #expect(again == .repeated(added))
        let other = IdempotencyKey(key: key.key, fingerprint: 7)
        #expect(try await store.add("y", at: start + 9, attempt: other, of: alice) == .keyReused)
    }

    @Test("A repeated request adds nothing, from SQLite to PostgreSQL and back", arguments: [nil, 4])
    func thereAndBack(partitions: Int?) async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        _ = try PostgreSQLTaskStore.migrate(address, partitions: partitions)
        let shared = TaskDatabase.postgreSQL(address)
        let (old, new) = (folder.file("old.db"), folder.file("new.db"))

        let first = try SQLiteTaskStore.open(path: old)
        let outcome = try await first.add("x", completed: true, at: start, attempt: key, of: alice)
        guard case .added(let added) = outcome else { throw StoreError.broken(reason: "\(outcome)") }
        #expect(try await first.remove(added.id, of: alice))
        let forgotten = IdempotencyKey(key: "old", fingerprint: 1)
        _ = try await first.add("old", at: start - IdempotencyKey.lifetime, attempt: forgotten, of: alice)
        first.close()
        let lines = try move(TaskDatabase.sqlite(old), to: shared)
        #expect(lines.count == 3)

        let second = try PostgreSQLTaskStore.open(address)
        try await retry(added, on: second)
        let bobs = try await second.add("y", at: start, attempt: key, of: Owner("bob"))
        guard case .added(let bobsTask) = bobs else { throw StoreError.broken(reason: "\(bobs)") }
        _ = try await second.add("old", at: start - IdempotencyKey.lifetime, attempt: forgotten, of: Owner("bob"))
        second.close()
        let back = try move(shared, to: TaskDatabase.sqlite(new))
        #expect(Array(back.prefix(2)) == Array(lines.prefix(2)) && back.count == 6)

        let third = try SQLiteTaskStore.open(path: new)
        defer { third.close() }
        try await retry(added, on: third)
        #expect(try await third.add("y", at: start + 9, attempt: key, of: Owner("bob")) == .repeated(bobsTask))
    }

    @Test(
        "A repeated request adds nothing, also where PostgreSQL had all tasks but not the key, or an old one of its name"
    )
    func late() async throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        let address = server.address(database)
        let archive = TaskDatabase.postgreSQL(address)
        func line(_ members: String, ago: Int64, text: String) -> String {
            let time = Timestamp(milliseconds: start - ago).text
            return #"{"owner":"alice",\#(members)"text":"\#(text)","completed":true,"created":"\#(time)""#
        }
        let created = Timestamp(milliseconds: start).text
        let task = line(#""id":1,"#, ago: 0, text: "x") + #","modified":"\#(created)","revision":1}"#
        #expect(try archive.add([task]).added == 1)
        // At a time when the store finds no key too old: only imports forget any here.
        var options = PostgreSQLStoreOptions()
        options.time = ManualClock(wallMilliseconds: 0)
        let store = try PostgreSQLTaskStore.open(address, options: options)
        defer { store.close() }
        let name = #""key":"k \"1\"","fingerprint":"ffffffffffffffff","id":1,"#
        // One of other days is not taken in, one of the same name is replaced, one that is there stays.
        let lines = [
            line(name, ago: IdempotencyKey.lifetime + 1, text: "old") + "}", line(name, ago: 0, text: "x") + "}",
            line(name, ago: 0, text: "other") + "}",
        ]
        let gone = IdempotencyKey(key: key.key, fingerprint: 3)
        _ = try await store.add("gone", at: start - IdempotencyKey.lifetime - 1, attempt: gone, of: alice)
        for (line, known) in zip(lines, ["gone", "x", "x"]) {
            let summary = try archive.add([task, line])
            #expect((summary.added, summary.present, summary.differing) == (0, 1, 0))
            #expect(try server.command("SELECT text FROM attempts", in: database) == "\(known)\n")
        }
        let item = TaskItem(
            id: 1, owner: alice, text: try TaskText("x"), completed: true, created: start, modified: start)
        try await retry(item, on: store)
        // What is there already is not written again.
        try server.command(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'written'; END $$;
            CREATE TRIGGER refuse AFTER INSERT ON attempts FOR EACH ROW EXECUTE FUNCTION refuse();
            """, in: database)
        #expect(try archive.add([task, lines[1]]).present == 1)
    }
}
