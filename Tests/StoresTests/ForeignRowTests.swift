import Basics
import OwnerMoves
import Platform
import PostgreSQLStore
import SQLite
import Support
import TaskArchive
import Tasks
import Testing

@Suite("Rows that no task-server wrote")
struct ForeignRowTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    private let key = IdempotencyKey(key: "k", fingerprint: 7)
    private let start = SystemTime().wallMilliseconds
    private let done = TaskChange(completed: true)

    private static let kinds = Array(MovableStore.all.prefix(2))
    /// The greatest id and the greatest revision.
    private static let greatest: Int64 = (1 << 53) - 1
    /// What no id and no revision is.
    private static let beyond = [Int64.min, -1, 0, greatest + 1, Int64.max]

    /// Expects the error of a damaged database.
    private func expectBroken(
        _ comment: Comment, at location: SourceLocation = #_sourceLocation, _ work: () async throws -> Void
    ) async {
        do {
            try await work()
            Issue.record("no error: \(comment)", sourceLocation: location)
        } catch {
            let isBroken = if case .broken = error as? StoreError { true } else { false }
            #expect(isBroken, "\(comment): \(error)", sourceLocation: location)
        }
    }

    @Test("A task with a value that no server gives is an error for its owner, and can be removed", arguments: kinds)
    func tasks(kind: MovableStore) async throws {
        try await kind.with { place in
            let wrong =
                [("id", Self.beyond), ("revision", Self.beyond)].map { ($0, $1.map(String.init)) }
                + ["created", "modified"].map { ($0, [Int64.min, Int64.max].map(String.init)) } + [("text", ["''"])]
            for (column, values) in wrong {
                for value in values {
                    _ = try await place.store.added("x", of: alice)
                    try place.run("UPDATE tasks SET id = 1")
                    try place.run("UPDATE tasks SET \(column) = \(value)")
                    let id = column == "id" ? Int64(value) ?? 0 : 1
                    await expectBroken("\(column) \(value)") { _ = try await place.store.find(id, of: alice) }
                    await expectBroken("\(column) \(value)") { _ = try await place.store.list(.all, of: alice) }
                    let attempts = [
                        { _ = try await place.store.change(id, done, expected: nil, at: 9, of: alice) },
                        {
                            _ = try await place.store.changeAll(
                                [IdentifiedChange(id: id, change: done)], at: 9, of: alice)
                        },
                    ]
                    // Together with a write of somebody else, perhaps in one transaction.
                    for attempt in attempts {
                        async let other = place.store.added("bob's", of: bob)
                        await expectBroken("\(column) \(value)", attempt)
                        #expect(try await place.store.remove(other.id, of: bob))
                    }
                    #expect(throws: OperatorError.self, "\(column) \(value)") { try place.archive.lines() }
                    #expect(try await place.store.remove(id, of: alice), "\(column) \(value)")
                    #expect(try place.archive.lines().count == 3)
                }
            }
        }
    }

    @Test("A next id that no server gives refuses additions, and whatever counts with it", arguments: kinds)
    func owners(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: alice)
            _ = try await place.store.added("y", of: bob)
            for number in [Int64.min, -1, 0, Self.greatest + 2, Int64.max] {
                try place.run("UPDATE owners SET next_id = \(number) WHERE owner = 'alice'")
                async let other = place.store.added("bob's", of: bob)
                await expectBroken("\(number)") { _ = try await place.store.added("x", of: alice) }
                await expectBroken("\(number)") {
                    _ = try await place.store.add("x", at: start, key: key, of: alice)
                }
                _ = try await other
                #expect(throws: OperatorError.self, "\(number)") { try place.archive.lines() }
                for pair in [(alice, Owner("new")), (bob, alice)] {
                    #expect(throws: OperatorError.self, "\(number)") { try place.move([pair], merging: true) }
                    #expect(throws: OperatorError.self, "\(number)") {
                        try place.plan([pair], merging: true)
                    }
                }
            }
            #expect(try await place.store.find(1, of: alice)?.revision == 1)
            #expect(try await place.store.find(2, of: alice) == nil)
            try place.run("UPDATE owners SET next_id = 2, tasks = 9223372036854775807 WHERE owner = 'alice'")
            #expect(try await place.store.add("x", of: alice) == .full)
            #expect(throws: OperatorError.self) { try place.archive.lines() }
            #expect(throws: OperatorError.self) { try place.move([(alice, bob)], merging: true) }
            try place.run("UPDATE owners SET tasks = -9223372036854775808 WHERE owner = 'alice'")
            #expect(throws: OperatorError.self) { try place.archive.lines() }
            #expect(throws: OperatorError.self) { try place.move([(alice, bob)], merging: true) }
        }
    }

    @Test(arguments: kinds)
    func `The record of an idempotency key is held to the same`(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.add("x", at: start, key: key, of: alice)
            for change in ["id = 9223372036854775807", "time = 9223372036854775807"] {
                try place.run("UPDATE attempts SET \(change)")
                await expectBroken("\(change)") {
                    _ = try await place.store.add("x", at: start, key: key, of: alice)
                }
                #expect(throws: OperatorError.self, "\(change)") { try place.archive.lines() }
                try place.run("UPDATE attempts SET id = 1, time = \(start)")
            }
            #expect(try await place.store.add("x", at: start, key: key, of: alice).repeated != nil)
            try place.run("UPDATE attempts SET key = 'caf\u{E9}'")
            #expect(throws: OperatorError.self) { try place.archive.lines() }
        }
    }

    @Test("After the greatest revision follows the first, and after the greatest id none", arguments: kinds)
    func greatest(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: alice)
            for isList in [false, true] {
                try place.run("UPDATE tasks SET revision = \(Self.greatest), completed = false")
                if isList {
                    let change = IdentifiedChange(id: 1, change: done, expected: Self.greatest)
                    _ = try await place.store.changeAll([change], at: 9, of: alice)
                } else {
                    _ = try await place.store.change(1, done, expected: [Self.greatest], at: 9, of: alice)
                }
                let item = try #require(try await place.store.find(1, of: alice))
                #expect(item.revision == 1 && item.completed, "\(isList)")
            }
            try place.run("UPDATE owners SET next_id = \(Self.greatest)")
            #expect(try await place.store.added("last", of: alice).id == Self.greatest)
            await expectBroken("beyond the last id") { _ = try await place.store.added("x", of: alice) }
            #expect(try await place.store.remove(Self.greatest, of: alice))
            // An export can be imported, also without the task that has the greatest id.
            let lines = try place.archive.lines()
            #expect(lines.contains(#"{"owner":"alice","next":\#(Self.greatest + 1)}"#))
            let folder = try TemporaryFolder()
            let copy = TaskDatabase.sqlite(folder.file("copy.db"))
            _ = try copy.add(lines)
            #expect(try copy.lines() == lines)
            // No id is left for what is moved behind the last one.
            _ = try await place.store.added("y", of: bob)
            #expect(throws: OperatorError.self) { try place.move([(bob, alice)], merging: true) }
            #expect(try place.archive.lines().count == lines.count + 1)
        }
    }

    /// A view in the place of the tasks, whose texts are made by an expression.
    private func tasksView(_ text: String) -> String {
        let columns = TaskItem.columns.map { $0.name == "text" ? "\(text) AS text" : $0.name }
        return """
            ALTER TABLE tasks RENAME TO kept;
            CREATE VIEW tasks AS SELECT \(columns.joined(separator: ", ")), change FROM kept;
            """
    }

    @Test func `An import stops where SQLite cannot read a task that is there`() throws {
        let folder = try TemporaryFolder()
        let archive = TaskDatabase.sqlite(folder.file("tasks.db"))
        let lines = (1...3).map { exportLine("alice", $0) }
        #expect(try archive.add(lines).added == 3)
        let connection = try Connection(path: folder.file("tasks.db"), mode: .readWrite)
        let triggers = ["INSERT", "UPDATE", "DELETE"].map {
            "CREATE TRIGGER on_\($0) INSTEAD OF \($0) ON tasks BEGIN SELECT 1; END;"
        }
        // The number is too small for SQLite where the id is 2.
        let text = "CASE WHEN id = 2 THEN abs(-9223372036854775806 - id) ELSE text END"
        try connection.execute(tasksView(text) + triggers.joined(separator: " "))
        let error = #expect(throws: OperatorError.self) { try archive.add(lines) }
        #expect(error?.failure.contains("integer overflow") == true, "\(String(describing: error))")
    }

    @Test func `An import into PostgreSQL is tried again where another transaction was in the way of a read`() throws {
        let server = try PostgreSQLServer.started()
        let database = try server.newDatabaseName()
        let archive = TaskDatabase.postgreSQL(server.address(database))
        // More tasks than are read by the first statement.
        let lines = (1...600).map { exportLine("alice", $0) }
        #expect(try archive.add(lines).added == 600)
        try server.command(
            """
            CREATE SEQUENCE reads;
            CREATE FUNCTION once(text) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('reads') = 1 THEN RAISE SQLSTATE '40001'; END IF;
                RETURN $1;
            END $$;
            CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
            \(tasksView("CASE WHEN id = 600 THEN once(text) ELSE text END"))
            CREATE TRIGGER nothing INSTEAD OF INSERT OR UPDATE OR DELETE ON tasks
                FOR EACH ROW EXECUTE FUNCTION nothing();
            """, in: database)
        let summary = try archive.add(lines)
        #expect((summary.present, summary.differing) == (600, 0))
        #expect(try server.command("SELECT last_value FROM reads", in: database) == "2\n")
    }

    @Test(arguments: kinds)
    func `An owner that no token names stops an export, as it stops an import`(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: alice)
            for name in [String(repeating: "o", count: 274), "a\u{1}", "a\u{85}"] {
                try place.run("UPDATE tasks SET owner = '\(name)'")
                try place.run("UPDATE owners SET owner = '\(name)'")
                #expect(throws: OperatorError.self) { try place.archive.lines() }
            }
        }
    }

    /// A table may be restored without the others, or rows may be deleted by hand.
    @Test(arguments: kinds)
    func `A task without its owner's row stops an export, wherever it is`(kind: MovableStore) async throws {
        for missing in ["'alice'", "'bob'", "'carol'", "'alice', 'bob', 'carol'"] {
            try await kind.with { place in
                for owner in [alice, bob, Owner("carol")] { _ = try await place.store.added("x", of: owner) }
                try place.run("DELETE FROM owners WHERE owner IN (\(missing))")
                let error = #expect(throws: OperatorError.self) { try place.archive.lines() }
                let start = "the database failed: the table owners lacks people"
                #expect(error?.message.hasPrefix(start) == true, "\(missing)")
            }
        }
    }
}
