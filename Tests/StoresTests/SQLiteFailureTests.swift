import SQLiteStore
import Glibc
import Platform
import SQLite
import Support
import Synchronization
import Tasks
import Testing

@Suite("A SQLite store whose disk fails")
struct SQLiteFailureTests {
    private let alice = Owner("alice")
    private let folder: TemporaryFolder
    private let events = Recorded<StoreEvent>()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ change: (inout SQLiteStoreOptions) -> Void) throws -> SQLiteTaskStore {
        try SQLiteTaskStore.open(path: folder.file("tasks.db")) { options in
            options.observer = events.append
            change(&options)
        }
    }

    @Test("On a full disk additions are refused and removals succeed, and the room that they make is used")
    func full() async throws {
        let store = try open { $0.maximumPages = 40 }
        defer { store.close() }
        let large = String(repeating: "x", count: 4000)
        var kept: [TaskItem] = []
        var error: StoreError?
        while error == nil, kept.count < 100 {
            do {
                kept.append(try await store.added(large, of: alice))
            } catch let failure as StoreError {
                error = failure
            }
        }
        #expect(error == .full)
        #expect(events.diskFull == 1)
        // The refused one left nothing, and used no id.
        #expect(try await store.lists(kept, of: alice))
        await #expect(throws: StoreError.full) { _ = try await store.added(large, of: alice) }
        #expect(events.diskFull == 1)
        // What changes nothing needs no room, and does not show that there is room again.
        let same = TaskChange(completed: false)
        #expect(try await store.change(1, same, expected: nil, at: 2, of: alice) == .changed(kept[0]))
        #expect(!events.all.contains(.recovered))
        for item in kept.prefix(10) { #expect(try await store.remove(item.id, of: alice)) }
        #expect(events.all.contains(.recovered))
        let next = try await store.added(large, of: alice)
        #expect(next.id == Int64(kept.count) + 1)
        #expect(try await store.lists(kept.dropFirst(10) + [next], of: alice))
    }

    @Test func `A write that fails does not fail those that share its transaction`() async throws {
        let store = try open { $0.maximumPages = 40 }
        defer { store.close() }
        let filler = String(repeating: "x", count: 4000)
        while (try? await store.added(filler, of: Owner("filler"))) != nil {}
        // The small ones fit into existing pages, the large one does not, in whatever batches they run.
        _ = try await store.added("room", of: alice)
        try await atOnce(0..<20) { number in
            guard number == 7 else { return _ = try await store.added("small", of: alice) }
            await #expect(throws: StoreError.full) { try await store.added(filler, of: alice) }
        }
        #expect(try await store.found(1...30, of: alice) == Array(1...20))
    }

    @Test("After a failed commit every caller gets the error, nothing is kept, and the next commit succeeds")
    func commit() async throws {
        let failing = Atomic(true)
        let store = try open { options in
            options.beforeCommit = {
                failing.load(ordering: .relaxed) ? SQLiteError(code: 778, message: "disk I/O error") : nil
            }
        }
        defer { store.close() }
        try await atOnce(0..<20) { _ in
            await #expect(throws: StoreError.broken(reason: "disk I/O error (SQLite 778)")) {
                try await store.added("x", of: alice)
            }
        }
        #expect(try await store.lists([], of: alice))
        await #expect(throws: StoreError.self) { try await store.check() }
        failing.store(false, ordering: .relaxed)
        #expect(try await store.added("x", of: alice).id == 1)
        #expect(events.all.contains(.commitFailed(reason: "disk I/O error (SQLite 778)")))
        #expect(events.all.filter { $0 == .recovered }.count == 1)
        #expect(store.statistics.failedCommits > 0)
    }

    @Test func `A write waits for the transaction of another program`() async throws {
        let store = try open { _ in }
        defer { store.close() }
        let other = try Connection(path: folder.file("tasks.db"), mode: .readWrite)
        other.setBusyTimeout(milliseconds: 10_000)
        try other.execute("BEGIN IMMEDIATE")
        let isAsked = Atomic(false)
        async let item = {
            isAsked.store(true, ordering: .releasing)
            return try await store.added("x", of: alice)
        }()
        await eventually { isAsked.load(ordering: .acquiring) }
        // Nothing happens meanwhile. A task that sleeps may wait for a thread afterwards, for longer than the write has
        // patience.
        usleep(200_000)
        try other.execute("COMMIT")
        #expect(try await item.id == 1)
    }

    @Test func `Writes that share a commit that fails are refused, and not tried again`() async throws {
        let breakpoint = Breakpoint()
        let commits = Atomic(0)
        let store = try open { options in
            options.beforeCommit = {
                breakpoint.stop()
                return commits.wrappingAdd(1, ordering: .relaxed).newValue > 1
                    ? SQLiteError(code: 778, message: "disk I/O error") : nil
            }
        }
        defer { store.close() }
        let first = Task { try await store.added("first", of: alice) }
        await breakpoint.waitUntilReached()
        let others = (0..<2).map { _ in Task { try await store.added("x", of: alice) } }
        await eventually { store.statistics.waitingWrites == 2 }
        breakpoint.resume()
        _ = try await first.value
        for other in others { await #expect(throws: StoreError.self) { try await other.value } }
        #expect(commits.load(ordering: .relaxed) == 2)
    }

    @Test(
        "Writes that wait together share a commit, but a removal of many tasks has one of its own",
        arguments: [(false, 50, 2), (true, 4, 5)])
    func sharing(areRemovals: Bool, count: Int, commits: Int) async throws {
        let breakpoint = Breakpoint()
        let store = try open { options in
            options.beforeCommit = {
                breakpoint.stop()
                return nil
            }
        }
        defer { store.close() }
        async let first = store.added("first", of: alice)
        await breakpoint.waitUntilReached()
        async let others: [Void] = atOnce(0..<count) { number in
            guard areRemovals else { return _ = try await store.added("x", of: alice) }
            _ = try await store.removeCompleted(of: Owner("owner-\(number)"))
        }
        await eventually { store.statistics.waitingWrites == count }
        breakpoint.resume()
        _ = try await (first, others)
        #expect(store.statistics.commits == commits)
        #expect(store.statistics.writes == count + 1)
    }
}
