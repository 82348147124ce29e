import PostgreSQLStore
import PostgreSQL
import Support
import Tasks
import Testing

@Suite("A row that another program keeps locked", .timeLimit(.minutes(15)))
struct LockedRowTests {
    private let alice = Owner("alice")

    @Test("A locked row delays its owner only, whose writes are refused as unavailable")
    func locked() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        var options = PostgreSQLStoreOptions()
        options.writers = 1  // so that all share its transactions
        let store = try PostgreSQLTaskStore.open(address, options: options)
        defer { store.close() }
        _ = try await store.added("before", of: alice)
        let keeper = try PipelineConnection(to: try ConnectionTarget(parsing: address))
        try keeper.runScript("BEGIN; SELECT FROM owners WHERE owner = 'alice' FOR UPDATE")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    await #expect {
                        try await store.added("in vain \(number)", of: alice)
                    } throws: { error in
                        if case .unavailable = error as? StoreError { true } else { false }
                    }
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
}
