import PostgreSQLStore
import Platform
import Support
import Tasks
import Testing

@Suite("A PostgreSQL server without room on its disk", .timeLimit(.minutes(15)))
struct FullDiskTests {
    private let alice = Owner("alice")
    private let disk: SmallDisk
    private let events = RecordedEvents()

    init() throws {
        disk = try SmallDisk()
    }

    private func open() throws -> PostgreSQLTaskStore {
        try PostgreSQLTaskStore.open(disk.server.address("tasks")) { $0.observer = events.append }
    }

    @Test
    func `What needs room is refused and reported once; all else continues, and new room is used`() async throws {
        let store = try open()
        defer { store.close() }
        var kept = [try await store.added("before", of: alice)]
        try disk.fill()
        var error: StoreError?
        while error == nil, kept.count < 1000 {
            do {
                kept.append(try await store.added(String(repeating: "x", count: 1500), of: alice))
            } catch let failure as StoreError {
                error = failure
            }
        }
        #expect(error == .full)
        for _ in 0..<5 {
            await #expect(throws: StoreError.full) {
                try await store.added(String(repeating: "x", count: 1500), of: alice)
            }
            // A check of the store says the same, as a write would.
            await #expect(throws: StoreError.full) { try await store.check() }
        }
        #expect(try await store.lists(kept, of: alice))
        #expect(events.diskFull == 1)
        #expect(!events.all.contains { if case .commitFailed = $0 { true } else { false } })
        #expect(!events.all.contains(.recovered))
        disk.makeRoom()
        try await store.check()
        kept.append(try await store.added("after", of: alice))
        #expect(kept.last?.id == Int64(kept.count))
        #expect(try await store.lists(kept, of: alice))
        #expect(events.all.filter { $0 == .recovered }.count == 1)
    }

    @Test func `No acknowledged task is lost or doubled while the disk is full again and again`() async throws {
        let store = try open()
        defer { store.close() }
        let writes = AcknowledgedWrites(owners: 3, filling: 700)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await writes.add(to: store) }
            for round in 1...5 {
                let (before, refused) = (writes.count, writes.refused)
                await eventually("more writes") { writes.count >= before + 50 }
                try disk.fill()
                await eventually("refusals") { writes.refused >= refused + 20 }
                #expect(try await store.list(.all, of: writes.owners[round % 3]) != TaskList(rendering: [], next: nil))
                disk.makeRoom()
            }
            try await awaitStore(store)
            writes.stop()
        }
        #expect(try await writes.faults(in: store) == [])
        #expect(events.diskFull >= 5)
    }
}
