import Platform
import SQLiteStore
import Support
import Synchronization
import Tasks
import Testing

@Suite("Lists of one person are read one after the other", .timeLimit(.minutes(15)))
struct ListTurnTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with two reading threads, of which the first list stops at the breakpoint.
    private func open(_ breakpoint: Breakpoint) throws -> SQLiteTaskStore {
        let isFirst = Atomic(true)
        return try SQLiteTaskStore.open(path: folder.file("tasks.db")) {
            $0.readers = 2
            $0.afterRead = { if isFirst.exchange(false, ordering: .relaxed) { breakpoint.stop() } }
        }
    }

    @Test func `Equal lists that wait are read once`() async throws {
        let breakpoint = Breakpoint()
        let store = try open(breakpoint)
        defer { store.close() }
        let alice = Owner("alice")
        let first = try await store.added("first", of: alice)
        async let early = store.list(.all, of: alice)
        await breakpoint.waitUntilReached()
        let lists = (1...5).map { _ in Task { try await store.list(.all, of: alice) } }
        await eventually("all of them wait") { store.statistics.waitingReads == 5 }
        breakpoint.resume()
        for list in lists { #expect(try await list.value == TaskList(rendering: [first])) }
        #expect(try await early == TaskList(rendering: [first]))
        #expect(store.statistics.listMisses == 2)
    }

    @Test func `Many lists of one person leave a reading thread to others`() async throws {
        let breakpoint = Breakpoint()
        let store = try open(breakpoint)
        defer { store.close() }
        let (alice, bob) = (Owner("alice"), Owner("bob"))
        let (first, other) = (try await store.added("first", of: alice), try await store.added("other", of: bob))
        let lists = (1...10).map { limit in
            Task { try await store.list(TaskQuery(limit: limit), of: alice) }
        }
        await breakpoint.waitUntilReached()
        await eventually("nine lists wait for their turn") { store.statistics.waitingReads == 9 }
        #expect(try await store.lists([other], of: bob))
        #expect(store.statistics.waitingReads == 9)
        breakpoint.resume()
        for list in lists { #expect(try await list.value == TaskList(rendering: [first])) }
        #expect(store.statistics.waitingReads == 0)
    }

    @Test func `A store that closes answers the lists that wait for their turn`() async throws {
        let breakpoint = Breakpoint()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db")) { $0.afterRead = { breakpoint.stop() } }
        let alice = Owner("alice")
        let lists = (1...10).map { limit in
            Task { try? await store.list(TaskQuery(limit: limit), of: alice) }
        }
        await breakpoint.waitUntilReached()
        await eventually("nine lists wait for their turn") { store.statistics.waitingReads == 9 }
        // The close waits for what this test does next, so it has a thread of its own.
        let closing = try NamedThread.start("close") { store.close() }
        let refusal = Refusal()
        await eventually("the store takes no more reads") {
            // The test does not await these reads, since half of them wait behind the list that is being read.
            Task { await refusal.look(at: store) }
            return refusal.isSeen.load(ordering: .relaxed)
        }
        breakpoint.resume()
        for list in lists { #expect(await list.value != nil) }
        closing.join()
    }
}

/// Whether a store was seen refusing a read.
private final class Refusal: Sendable {
    let isSeen = Atomic(false)

    func look(at store: SQLiteTaskStore) async {
        do throws(StoreError) {
            _ = try await store.find(1, of: Owner("bob"))
        } catch {
            if error == .overloaded { isSeen.store(true, ordering: .relaxed) }
        }
    }
}
