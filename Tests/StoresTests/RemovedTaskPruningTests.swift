import JSON
import Platform
import Support
import Synchronization
import TaskArchive
import Tasks
import Testing

@Suite("Removed tasks are known for a time, and are forgotten in small steps")
struct RemovedTaskPruningTests {
    private let time = ManualClock()
    private let alice = Owner("alice")

    /// 3,000 tasks of alice and one each of 500 others that were removed 30 days ago, and one of alice a millisecond
    /// later.
    private var rows: String {
        let start = time.wallMilliseconds - RemovedTask.kept
        return """
            INSERT INTO owners(owner, next_id, tasks, change, origin) VALUES ('alice', 4000, 0, 4000, 7);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO owners(owner, next_id, tasks, change, origin) SELECT 'owner-' || i, 2, 0, 2, 7 FROM n;
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO removed_tasks(owner, id, change, time) SELECT 'alice', i, i + 500, \(start) FROM n;
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO removed_tasks(owner, id, change, time) SELECT 'owner-' || i, 1, 2, \(start) FROM n;
            INSERT INTO removed_tasks(owner, id, change, time) VALUES ('alice', 3001, 3501, \(start) + 1)
            """
    }

    private func expectForgetting(_ store: any TaskStore, _ count: () throws -> Int64?) async throws {
        func outcome(_ number: Int64, of owner: Owner) async throws -> ChangesOutcome {
            try await store.read(
                ListChanges(owner: owner, since: ChangePoint(origin: 7, number: number), limit: 1000))
        }
        try await eventually("one removed task is left", within: .seconds(60)) { try count() == 1 }
        #expect(try await outcome(3499, of: alice) == .forgotten)
        let end = ChangePoint(origin: 7, number: 4000)
        let known = ChangesPage(rendering: [], removed: [3001], next: end)
        #expect(try await outcome(3500, of: alice) == .page(known))
        #expect(try await outcome(1, of: Owner("owner-500")) == .forgotten)
        time.advance(seconds: 1)
        try await eventually("no removed task is left", within: .seconds(60)) { try count() == 0 }
        #expect(try await outcome(3500, of: alice) == .forgotten)
        #expect(try await outcome(3501, of: alice) == .page(ChangesPage(rendering: [], next: end)))
    }

    @Test("Only those among the newest 20,000 changes of an owner are known", arguments: MovableStore.all)
    func bounded(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("first", of: alice)
            #expect(try await place.store.remove(1, of: alice))
            let origin = try await place.store.changes(of: alice).next.origin
            try place.run("UPDATE owners SET change = 20000")
            _ = try await place.store.added("second", of: alice)
            func outcome(_ number: Int64) async throws -> ChangesOutcome {
                let point = ChangePoint(origin: origin, number: number)
                return try await place.store.read(ListChanges(owner: alice, since: point, limit: 1000))
            }
            #expect(try await outcome(0) == .forgotten)
            guard case .page(let page) = try await outcome(1) else { throw ForgottenPoint() }
            // The removal took the number 2.
            #expect(page.removed == [1])
            #expect(try await place.store.remove(2, of: alice))
            #expect(try await outcome(1) == .forgotten)
            let last = ChangePoint(origin: origin, number: 20_002)
            #expect(try await outcome(2) == .page(ChangesPage(rendering: [], removed: [2], next: last)))
            #expect(try place.integer("SELECT 10 * max(id) + count(*) FROM removed_tasks") == 21)
        }
    }

    private var database: PrunedDatabase { PrunedDatabase(rows: rows, table: "removed_tasks", time: time) }

    @Test(arguments: [false, true])
    func `A pruning that fails is rolled back, reported, and tried again after six times as long`(
        onPostgreSQL: Bool
    ) async throws {
        let function = "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$"
        let action = onPostgreSQL ? "FOR EACH ROW EXECUTE FUNCTION fail()" : "BEGIN SELECT RAISE(ABORT, 'no'); END"
        let trigger = "CREATE TRIGGER failing BEFORE DELETE ON removed_tasks \(action)"
        let failures = Atomic(0)
        let database = PrunedDatabase(
            rows: "\(rows); \(onPostgreSQL ? "\(function); " : "")\(trigger)", table: "removed_tasks", time: time
        ) { event in
            if case .pruningFailed = event { failures.add(1, ordering: .relaxed) }
        }
        func check(_ store: any TaskStore, _ count: () throws -> Int64?, servers: Int, interval: Double) async throws {
            for (intervals, tries) in [(0.0, 1), (5.9, 1), (0.2, 2)] {
                time.advance(seconds: intervals * interval)
                try await eventually("all have tried") {
                    // SQLite prunes beside writes.
                    _ = try await store.added("x", of: Owner("bob"))
                    return failures.load(ordering: .relaxed) == tries * servers
                }
            }
            let known = ListChanges(owner: alice, since: ChangePoint(origin: 7, number: 1), limit: 1000)
            #expect(try await store.read(known) != .forgotten)
            #expect(try count() == 3501)
        }
        if onPostgreSQL {
            try await database.withPostgreSQL(partitions: nil) { try await check($0, $1, servers: 2, interval: 1) }
        } else {
            try await database.withSQLite { try await check($0, $1, servers: 1, interval: 10) }
        }
    }

    @Test func `SQLite forgets those of all owners together`() async throws {
        try await database.withSQLite { store, count in try await expectForgetting(store, count) }
    }

    @Test(
        "Servers of PostgreSQL forget those of one owner after the other, in partitions as well", arguments: [nil, 4])
    func postgreSQL(partitions: Int?) async throws {
        try await database.withPostgreSQL(partitions: partitions) { store, count in
            try await expectForgetting(store, count)
        }
    }
}
