import PostgreSQL
import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("Reads that wait for PostgreSQL", .timeLimit(.minutes(15)))
struct ReadTurnsTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    /// Gives a store whose lists wait for a lock that the keeper holds.
    ///
    /// The store has a session of each kind, and both are open before: a session that is opened waits for the lock, too.
    ///
    /// The deadline is so long that no list is given up while others are still being asked for.
    private func withLockedTasks(
        deadlineMilliseconds: Int = 600_000, _ body: (PostgreSQLTaskStore, PipelineConnection) async throws -> Void
    ) async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let store = try PostgreSQLTaskStore.open(address) {
            ($0.readers, $0.writers, $0.deadlineMilliseconds) = (1, 1, deadlineMilliseconds)
        }
        defer { store.close() }
        try await awaitStore(store)
        _ = try await store.list(.all, of: alice)
        let keeper = try PipelineConnection(to: ConnectionTarget(parsing: address))
        try keeper.runScript("BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE")
        // However the test ends, no session waits for the lock any more.
        defer { try? keeper.runScript("ROLLBACK") }
        try await body(store, keeper)
    }

    /// Whether a session of this database waits for the lock of the tasks.
    private func isLockAwaited(_ connection: PipelineConnection) -> Bool {
        let waiting = """
            SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
            WHERE datname = current_database() AND relation = 'tasks'::regclass AND NOT granted
            """
        return (try? connection.run(waiting).integer(0, 0)) == 1
    }

    @Test func `A person who asks for many lists delays no list of another person`() async throws {
        try await withLockedTasks { store, keeper in
            let answered = try await withThrowingTaskGroup(of: Owner.self) { group in
                for number in 1...41 {
                    let owner = number == 41 ? bob : alice
                    group.addTask {
                        _ = try await store.list(TaskQuery(after: Int64(number)), of: owner)
                        return owner
                    }
                    await eventually("the list waits") { store.statistics.waitingReads == number }
                }
                try keeper.runScript("ROLLBACK")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // A list of alice is under way when bob asks, and his list shares the next batch with one of hers.
            let place = try #require(answered.firstIndex(of: bob))
            #expect(place < 20)
        }
    }

    @Test func `Equal lists that wait share one read, and a read that is sent already is not shared`() async throws {
        try await withLockedTasks { store, keeper in
            let lists = try await withThrowingTaskGroup(of: TaskList.self) { group in
                for number in 0...20 {
                    group.addTask { try await store.list(.all, of: alice) }
                    // The first one is sent at once, and waits for the lock. Until then the second one would share it.
                    if number == 0 { await eventually("it is sent") { isLockAwaited(keeper) } }
                    if number == 1 { await eventually("it is not shared") { store.statistics.waitingReads == 2 } }
                }
                await eventually("all of them wait") { store.statistics.waitingReads == 21 }
                try keeper.runScript(
                    "INSERT INTO tasks (owner, id, text, completed, created, modified, revision) "
                        + "VALUES ('alice', 1, 'later', false, 0, 0, 1); COMMIT")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(lists.count { String(decoding: $0.json, as: UTF8.self).contains("later") } >= 20)
            // An answer comes before it is counted. The first list was read when the store was opened.
            store.close()
            #expect(store.statistics.listMisses == 3)
        }
    }

    @Test func `A list that waits for its turn until the deadline is refused as overloaded`() async throws {
        try await withLockedTasks(deadlineMilliseconds: 1000) { store, keeper in
            let errors = await withTaskGroup(of: StoreError?.self) { group in
                for number in 1...3 {
                    group.addTask {
                        do throws(StoreError) {
                            _ = try await store.list(TaskQuery(after: Int64(number)), of: alice)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: [StoreError?]()) { $0.append($1) }
            }
            // The first is under way, and lost with its session.
            #expect(errors.count { $0 == .overloaded } == 2)
            #expect(errors.allSatisfy { $0 != nil })
            try keeper.runScript("ROLLBACK")
        }
    }
}
