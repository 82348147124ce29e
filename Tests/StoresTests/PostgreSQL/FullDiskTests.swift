import PostgreSQLStore
import Platform
import Support
import Tasks
import Testing

@Suite("A PostgreSQL server without room on its disk")
struct FullDiskTests {
    @Test func `No acknowledged task is lost or doubled while the disk is full again and again`() async throws {
        let disk = try SmallDisk()
        let events = Recorded<StoreEvent>()
        let store = try PostgreSQLTaskStore.open(disk.server.address("tasks")) { $0.observer = events.append }
        defer { store.close() }
        try disk.fill()
        let large = String(repeating: "x", count: 1500)
        while (try? await store.added(large, limit: 1000, of: Owner("alice"))) != nil {}
        // A check of the store says what a write would get.
        await #expect(throws: StoreError.full) { try await store.check() }
        disk.makeRoom()
        try await store.check()
        #expect(events.all.contains(.recovered))
        let writes = AcknowledgedWrites(owners: 3, filling: 700)
        try await writes.add(to: store, callers: 16) {
            for round in 1...5 {
                let (before, refused) = (writes.count, writes.refused)
                await eventually("more writes") { writes.count >= before + 50 }
                try disk.fill()
                await eventually("refusals") { writes.refused >= refused + 20 }
                #expect(try await store.list(.all, of: writes.owners[round % 3]) != TaskList(rendering: [], next: nil))
                disk.makeRoom()
            }
        }
        #expect(events.diskFull >= 5)
    }
}
