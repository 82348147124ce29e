import OwnerMoves
import Platform
import PostgreSQL
import PostgreSQLStore
import Support
import TaskArchive
import Tasks
import Testing

@Suite("A row that another program keeps locked")
struct LockedRowTests {
    private let alice = Owner("alice")

    @Test func `A locked row delays its owner only, whose writes are refused as unavailable`() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        // With one writer, all writes share its transactions. On a busy machine their turns may take over ten seconds.
        let store = try PostgreSQLTaskStore.open(address) { ($0.writers, $0.deadlineMilliseconds) = (1, 60_000) }
        defer { store.close() }
        _ = try await store.added("before", of: alice)
        let keeper = try PipelineConnection(to: try ConnectionTarget(parsing: address))
        try keeper.runScript("BEGIN; SELECT FROM owners WHERE owner = 'alice' FOR UPDATE")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    await #expect { try await store.added("in vain \(number)", of: alice) } throws: { $0.isUnavailable }
                }
            }
            await eventually("four writes wait") { store.statistics.waitingWrites == 4 }
            let thread = try OwnThread()
            defer { thread.end() }
            for number in 0..<6 {
                // The wait for the locked row is a quarter of a second; the rest is for a busy machine.
                try await expectDuration(below: .seconds(3)) {
                    try await withTaskExecutorPreference(thread) {
                        try await ContinuousClock().measure {
                            _ = try await store.added("x", of: Owner("other-\(number)"))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try keeper.runScript("ROLLBACK")
        #expect(try await store.added("after", of: alice).id > 1)
        #expect(try await store.list(.all, of: alice).json.count > 0)
    }

    /// Whether a write is seen waiting, which it does for a quarter of a second only, less than a pause of a busy
    /// machine.
    private func isSeenWaiting(for keeper: PipelineConnection) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(1)
        repeat {
            await Task.yield()
            let waiting = try keeper.run(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
            if waiting.integer(0, 0) > 0 { return true }
        } while ContinuousClock.now < end
        return false
    }

    /// What all do in one order causes no deadlock.
    @Test("Every write waits for the owner's row before it locks a task, and a move for that of the first owner")
    func order() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let store = try PostgreSQLTaskStore.open(address)
        defer { store.close() }
        let keeper = try PipelineConnection(to: try ConnectionTarget(parsing: address))
        let done = TaskChange(completed: false)
        let mover = { @Sendable () in try TaskDatabase.postgreSQL(address).open(for: .change) }
        let writes: [@Sendable (Owner) async throws -> Void] = [
            { _ = try await store.change(1, done, expected: nil, at: 2, of: $0) },
            { _ = try await store.changeAll([IdentifiedChange(id: 1, change: done)], at: 2, of: $0) },
            { _ = try await store.remove(1, of: $0) }, { _ = try await store.remove(1, expected: [1], of: $0) },
            { _ = try await store.removeAll(with: try TaskText("x"), of: $0) },
            { _ = try await store.removeCompleted(of: $0) }, { try mover().move([($0, Owner("z"))]) },
            { try mover().move([(Owner("z"), $0)], merging: true) },
        ]
        for (number, write) in writes.enumerated() {
            var attempts = 0
            try await eventually("write \(number) waits") {
                attempts += 1
                let owner = Owner("owner-\(number)-\(attempts)")
                _ = try await store.added("x", of: Owner("z"))
                _ = try await store.added("x", completed: true, of: owner)
                try keeper.runScript("BEGIN; SELECT FROM owners WHERE owner = '\(owner.identifier)' FOR UPDATE")
                async let result: Void? = try? await write(owner)
                let waited = try await isSeenWaiting(for: keeper)
                #expect(throws: Never.self, "write \(number)") {
                    try keeper.runScript("SELECT FROM tasks FOR UPDATE NOWAIT; SELECT FROM owners FOR UPDATE NOWAIT")
                }
                try keeper.runScript("ROLLBACK")
                _ = await result
                return waited
            }
        }
    }

    @Test func `A write that waited for another program's transaction goes by what that has committed`() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let store = try PostgreSQLTaskStore.open(address)
        defer { store.close() }
        let keeper = try PipelineConnection(to: try ConnectionTarget(parsing: address))
        let key = IdempotencyKey(key: "k", fingerprint: 7)
        let now = SystemTime().wallMilliseconds
        let done = TaskChange(completed: true)
        let change = "UPDATE tasks SET text = 'theirs', revision = 2 WHERE owner = $1"
        let cases: [(sql: String, isRight: @Sendable (Owner) async throws -> Bool)] = [
            // Another server makes the owner's row.
            ("INSERT INTO owners VALUES ($1, 8, 1)", { try await store.added("x", of: $0).id == 8 }),
            (
                change,
                { owner in
                    let outcome = try await store.change(1, done, expected: [1], at: 2, of: owner)
                    guard case .conflict(let item) = outcome else { return false }
                    return item.text.value == "theirs"
                }
            ),
            (
                change,
                { owner in
                    let changes = [IdentifiedChange(id: 1, change: done, expected: 1)]
                    return try await store.changeAll(changes, at: 2, of: owner) == .conflict([1])
                }
            ),
            (change, { try await store.remove(1, expected: [1], of: $0) == .conflict }),
            (
                """
                SELECT FROM owners WHERE owner = $1 FOR UPDATE;
                INSERT INTO attempts VALUES ($1, 'k', 7, \(now), 1, 'x', false)
                """,
                { owner in
                    let outcome = try await store.add("x", at: now, key: key, of: owner)
                    return if case .repeated = outcome { true } else { false }
                }
            ),
        ]
        for (number, (sql, isRight)) in cases.enumerated() {
            var attempts = 0
            try await eventually("write \(number) waits, and goes on") {
                attempts += 1
                let owner = Owner("owner-\(number)-\(attempts)")
                if number > 0 { _ = try await store.added("x", of: owner) }
                try keeper.runScript("BEGIN; " + sql.replacing("$1", with: "'\(owner.identifier)'"))
                async let result = isRight(owner)
                let waited = try await isSeenWaiting(for: keeper)
                try keeper.runScript("COMMIT")
                do {
                    #expect(try await result, "write \(number)")
                } catch let error where error.isUnavailable {
                    return false
                }
                return waited
            }
        }
    }
}
