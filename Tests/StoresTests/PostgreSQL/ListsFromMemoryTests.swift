import Platform
import PostgreSQL
import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("Lists that a store on PostgreSQL answers from memory")
struct ListsFromMemoryTests {
    private let alice = Owner("alice")

    @Test func `A list is read once after each change, at whichever server that was`() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let events = Recorded<StoreEvent>()
        // Forgetting a removed task changes the owner's row, so that the list is read again.
        let neverPruning: UInt64 = 3_600_000
        let store = try PostgreSQLTaskStore.open(address) {
            $0.observer = events.append
            $0.pruningMilliseconds = neverPruning
        }
        let other = try PostgreSQLTaskStore.open(address) { $0.pruningMilliseconds = neverPruning }
        defer {
            store.close()
            other.close()
        }
        var items: [TaskItem] = []
        func expectList() async throws {
            for number in 0..<3 {
                let before = store.statistics
                #expect(try await store.lists(items, of: alice))
                let after = store.statistics
                #expect(after.listMisses - before.listMisses == (number == 0 ? 1 : 0), "\(number): \(events.all)")
                #expect(after.listHits - before.listHits == (number == 0 ? 0 : 1), "\(number): \(events.all)")
            }
        }
        try await expectList()
        for server in [store, other] {
            items.append(try await server.added("x", of: alice))
            try await expectList()
            let change = TaskChange(completed: true)
            let changed = try await server.change(items[0].id, change, expected: nil, at: 2000, of: alice).changed
            items[0] = try #require(changed)
            try await expectList()
            #expect(try await server.remove(items[0].id, of: alice))
            items.removeFirst()
            try await expectList()
            _ = try await server.added("y", of: alice)
            #expect(try await server.removeAll(with: TaskText("y"), of: alice) == 1)
            try await expectList()
        }
        try await other.perform(RemoveOwner(owner: alice, issued: 1000, time: 2000))
        try await expectList()
    }

    @Test func `After a lost session lists are read again, because the database may be another one`() async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let store = try PostgreSQLTaskStore.open(address) { $0.sleepMilliseconds = 10 }
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        #expect(try await store.lists([item], of: alice))
        // Another database may have other tasks under the same numbers.
        let connection = try PostgreSQLDatabase(address).connect()
        _ = try connection.run("UPDATE tasks SET text = 'y'")
        #expect(try await store.lists([item], of: alice))
        _ = try connection.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        let text = try TaskText("y")
        let changed = TaskItem(id: 1, owner: alice, text: text, created: item.created, modified: item.modified)
        await eventually("the list is read again") {
            await (try? store.list(.all, of: alice)) == TaskList(rendering: [changed])
        }
    }
}
