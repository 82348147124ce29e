import PostgreSQL
import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("A transaction of PostgreSQL that fails")
struct CommitTests {
    private let alice = Owner("alice")
    private let address: String
    private let other: PipelineConnection

    init() throws {
        address = try PostgreSQLServer.started().newDatabase()
        other = try PipelineConnection(to: ConnectionTarget(parsing: address))
    }

    /// Gives a store whose transactions fail with a SQLSTATE while a condition is true.
    ///
    /// They fail at their COMMIT, or at the statement that inserts a task. The condition may use `run`, the number of
    /// the insertion.
    private func withStore(
        failingWith code: String, saying message: String = "not now", if condition: String, atCommit: Bool,
        _ body: (PostgreSQLTaskStore) async throws -> Void
    ) async throws {
        // With one writer, all writes share its transactions.
        let store = try PostgreSQLTaskStore.open(address) {
            $0.writers = 1
            $0.deadlineMilliseconds = 120_000
        }
        defer { store.close() }
        try await store.check()
        try other.runScript(
            """
            CREATE SEQUENCE runs;
            CREATE TABLE gate AS SELECT true AS closed;
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE run bigint := nextval('runs');
            BEGIN
                WHILE NEW.text = 'waits for the gate' AND EXISTS (SELECT FROM gate) LOOP
                    PERFORM pg_sleep(0.02);
                END LOOP;
                IF \(condition) THEN RAISE EXCEPTION '\(message)' USING ERRCODE = '\(code)'; END IF;
                RETURN NEW;
            END $$;
            CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON tasks \(atCommit ? "DEFERRABLE INITIALLY DEFERRED" : "")
                FOR EACH ROW EXECUTE FUNCTION fail();
            """)
        try await body(store)
    }

    /// How often a task was inserted; a sequence goes on also where the transaction was rolled back.
    private var runs: Int64 {
        get throws { try other.run("SELECT last_value FROM runs").integer(0, 0) }
    }

    /// Whether the trigger runs, so that no other write can join the first transaction.
    private var isGateReached: Bool {
        get throws { try other.run("SELECT is_called FROM runs").boolean(0, 0) }
    }

    @Test func `A commit that met another transaction is tried again`() async throws {
        try await withStore(failingWith: "40001", if: "run < 4", atCommit: true) { store in
            let item = try await store.added("x", of: alice)
            let count = try runs
            #expect(count == 4)
            #expect(try await store.lists([item], of: alice))
        }
    }

    /// Adds tasks of these texts, each of an owner of its own, in one transaction; returns the texts that were added.
    private func addTogether(_ texts: [String], to store: PostgreSQLTaskStore) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: String?.self) { group in
            // While the first transaction waits, those that share the next one gather.
            group.addTask {
                _ = try await store.added("waits for the gate", of: Owner("first"))
                return nil
            }
            await eventually("the first is in its transaction") { (try? isGateReached) == true }
            for text in texts {
                group.addTask { (try? await store.added(text, of: Owner(text))) == nil ? nil : text }
            }
            await eventually("the others wait") { store.statistics.waitingWrites == 1 + texts.count }
            try other.runScript("DELETE FROM gate")
            return try await group.reduce(into: []) { $0.formUnion([$1].compactMap(\.self)) }
        }
    }

    @Test(arguments: ["57014", "XX000", "53100"])
    func `A commit that failed otherwise is in doubt, and never tried again`(code: String) async throws {
        try await withStore(failingWith: code, if: "run = 2", atCommit: true) { store in
            let added = try await addTogether(["a", "b"], to: store)
            #expect(added.isEmpty)
            let count = try runs
            #expect(count == 2)
            _ = try await store.added("after", of: alice)
        }
    }

    @Test func `The loss of a session between the servers of Citus is passing`() async throws {
        let message = "failure on connection marked as essential: worker:5432"
        try await withStore(failingWith: "XX000", saying: message, if: "run = 1", atCommit: false) { store in
            await #expect { try await store.added("x", of: alice) } throws: { $0.isUnavailable }
            _ = try await store.added("x", of: alice)
        }
    }

    @Test(arguments: ["53100", "42501", "22021"])
    func `A write that finds no room or no right takes no other with it`(code: String) async throws {
        try await withStore(failingWith: code, if: "NEW.text = 'bad'", atCommit: false) { store in
            let added = try await addTogether(["good 1", "bad", "good 2"], to: store)
            #expect(added == ["good 1", "good 2"])
        }
    }

    @Test func `What changes nothing leaves a check to write until a write succeeds`() async throws {
        try await withStore(failingWith: "53100", if: "NEW.text <> 'x'", atCommit: false) { store in
            let item = try await store.added("x", of: alice)
            await #expect(throws: StoreError.full) { try await store.added("y", of: alice) }
            try await store.changeNothing(item)
            await #expect(throws: StoreError.full) { try await store.check() }
            #expect(try await store.remove(item.id, of: alice))
            try await store.check()
        }
    }
}
