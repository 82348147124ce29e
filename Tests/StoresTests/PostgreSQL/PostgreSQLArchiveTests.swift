import Basics
import TaskArchive
import PostgreSQLStore
import Platform
import PostgreSQL
import Support
import Tasks
import Testing

@Suite("An import into PostgreSQL")
struct PostgreSQLArchiveTests {
    @Test(arguments: MovableStore.all.dropFirst())
    func `An import adds what is missing, and counts what differs`(kind: MovableStore) async throws {
        try await kind.with { place in try await addMissing(place.archive, beside: place.store) }
    }

    private func addMissing(_ archive: TaskDatabase, beside store: any TaskStore) async throws {
        let people = (100..<400).map { "owner-\($0)" }
        let lines = people.flatMap { name in
            [1, 2, 5].map { exportLine(name, $0) } + [#"{"owner":"\#(name)","next":9}"#]
        }
        let whole = lines + [#"{"end":true,"tasks":900}"#]
        // Some people with one task, some with all of them but another id to give next.
        let some = people.enumerated().flatMap { (number, name) -> [String] in
            switch number % 3 {
            case 0: [exportLine(name, 2)]
            case 1: [exportLine(name, 1, "other"), exportLine(name, 2), exportLine(name, 5)]
            default: []
            }
        }
        #expect(try archive.add(some).added == 400)
        let summary = try archive.add(whole)
        #expect((summary.added, summary.present, summary.differing, summary.end) == (500, 400, 100, .whole))
        let kept = whole.enumerated().map { place, line in
            place < 1200 && place % 12 == 4 ? line.replacing("\"text\":\"t\"", with: "\"text\":\"other\"") : line
        }
        #expect(try archive.lines() == kept)
        let again = try archive.add(whole)
        #expect((again.added, again.present, again.differing) == (0, 900, 100))
        // Twice in one transaction is once.
        let twice = try archive.add([exportLine("twin", 1), exportLine("twin", 1), exportLine("twin", 2)])
        #expect((twice.added, twice.present) == (2, 1))
        // All tasks are there, but the next id is not.
        #expect(try archive.add([exportLine("twin", 2), #"{"owner":"twin","next":7}"#]).added == 0)
        #expect(try archive.lines().contains(#"{"owner":"twin","next":7}"#))
        // An older export with a task that is missing takes no ids back.
        #expect(try archive.add([exportLine("twin", 3), #"{"owner":"twin","next":4}"#]).added == 1)
        #expect(try await store.added("new", of: Owner("owner-100")).id == 9)
        #expect(try await store.add("x", limit: 4, of: Owner("owner-100")) == .full)
        #expect(try await store.add("x", limit: 3, of: Owner("twin")) == .full)
        #expect(try await store.added("new", of: Owner("twin")).id == 7)
        #expect(try archive.export { _ in } == 905)
    }

    @Test(arguments: [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")])
    func `An import commits on a disk, whatever the role's default is`(setting: String, used: String) throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        let address = server.address(database)
        _ = try PostgreSQLTaskStore.migrate(address, partitions: nil)
        try server.command(
            """
            ALTER DATABASE \(database) SET synchronous_commit = \(setting);
            CREATE TABLE used(setting text);
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO used VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
            CREATE TRIGGER note AFTER INSERT ON tasks EXECUTE FUNCTION note();
            """, in: database)
        #expect(try TaskDatabase.postgreSQL(address).add([exportLine("alice", 1)]).added == 1)
        #expect(try server.command("SELECT DISTINCT setting FROM used", in: database) == "\(used)\n")
    }

    @Test func `An import waits for a row that a server keeps locked`() throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let archive = TaskDatabase.postgreSQL(address)
        #expect(try archive.add([exportLine("alice", 1)]).added == 1)
        let keeper = try PostgreSQLDatabase(address).connect()
        // The server ends this session when it has kept the row for three times as long as a statement waits for it.
        try keeper.runScript(
            """
            SET idle_in_transaction_session_timeout = 750;
            BEGIN;
            SELECT FROM owners WHERE owner = 'alice' FOR UPDATE
            """)
        #expect(try archive.add([exportLine("alice", 2)]).added == 1)
    }

    @Test func `An export says in words which value of another program stops it`() throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        let archive = TaskDatabase.postgreSQL(server.address(database))
        #expect(try archive.add([exportLine("alice", 1)]).added == 1)
        for (change, reason) in [
            ("position = 'NaN'", "a value of position in the table of tasks is not one that task-server writes"),
            ("due = '30.11.2026'", "a value of due in the table of tasks is not one that task-server writes"),
            ("text = ''", "a text in the table of tasks is not one that task-server writes: empty"),
        ] {
            try server.command("UPDATE tasks SET text = 't', due = NULL, position = NULL", in: database)
            try server.command("UPDATE tasks SET \(change)", in: database)
            let error = #expect(throws: OperatorError.self) { try archive.lines() }
            #expect(error?.message.hasPrefix("the database failed: \(reason)") == true)
        }
    }

    @Test("A repeated request adds nothing where the database had its task but not the key, or an old key of its name")
    func lateKey() async throws {
        let alice = Owner("alice")
        let key = IdempotencyKey(key: "k \"1\"", fingerprint: .max)
        let start = SystemTime().wallMilliseconds
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
        // To this store no key is too old, so only imports forget keys here.
        let store = try PostgreSQLTaskStore.open(address) { $0.time = ManualClock(wallMilliseconds: 0) }
        defer { store.close() }
        let name = #""key":"k \"1\"","fingerprint":"ffffffffffffffff","id":1,"#
        // One of other days is not taken in, one of the same name is replaced, one that is there stays.
        let lines = [
            line(name, ago: IdempotencyKey.lifetime + 1, text: "old") + "}", line(name, ago: 0, text: "x") + "}",
            line(name, ago: 0, text: "other") + "}",
        ]
        let gone = IdempotencyKey(key: key.key, fingerprint: 3)
        _ = try await store.add("gone", at: start - IdempotencyKey.lifetime - 1, key: gone, of: alice)
        for (line, known) in zip(lines, ["gone", "x", "x"]) {
            let summary = try archive.add([task, line])
            #expect((summary.added, summary.present, summary.differing) == (0, 1, 0))
            #expect(try server.command("SELECT text FROM attempts", in: database) == "\(known)\n")
        }
        let item = TaskItem(
            id: 1, owner: alice, text: try TaskText("x"), completed: true, created: start, modified: start)
        let again = try await store.add("x", completed: true, at: start + 9, key: key, of: alice)
        #expect(again == .repeated(item))
        // A key that is there already is not written again.
        try server.command(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'written'; END $$;
            CREATE TRIGGER refuse AFTER INSERT OR UPDATE ON attempts FOR EACH ROW EXECUTE FUNCTION refuse();
            """, in: database)
        #expect(try archive.add([task, lines[1]]).present == 1)
    }
}
