import Platform
import SQLiteStore
import Support
import Tasks
import Testing

@Suite("A store never answers an outdated list")
struct OutdatedListTests {
    private let alice = Owner("alice")

    @Test func `A write between the read and the caching of a list keeps it out of the cache`() async throws {
        let folder = try TemporaryFolder()
        let breakpoint = Breakpoint()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db")) { $0.afterRead = { breakpoint.stop() } }
        defer { store.close() }
        let first = try await store.added("first", of: alice)
        async let early = store.list(.all, of: alice)
        await breakpoint.waitUntilReached()
        // The reader has a list of one task, and is stopped; meanwhile this is committed and answered.
        let second = try await store.added("second", of: alice)
        breakpoint.resume()
        #expect(try await early == TaskList(rendering: [first]))
        #expect(try await store.lists([first, second], of: alice))
        #expect(try await store.lists([first, second], of: alice))
        #expect(store.statistics.listHits == 1)
    }

    @Test func `A list is cached after it was read, and not after a write`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        defer { store.close() }
        #expect(store.cachedList(of: alice, .both) == nil)
        let first = try await store.added("first", of: alice)
        #expect(store.cachedList(of: alice, .both) == nil)
        for _ in 0..<5 { #expect(try await store.lists([first], of: alice)) }
        let statistics = store.statistics
        #expect((statistics.listHits, statistics.listMisses, statistics.lists) == (4, 1, 1))
        #expect(statistics.listBytes > 250)
        #expect(store.cachedList(of: alice, .both) == TaskList(rendering: [first]))
        #expect(store.cachedList(of: Owner("bob"), .both) == nil)
        _ = try await store.added("second", of: alice)
        #expect(store.cachedList(of: alice, .both) == nil)
    }

    @Test func `A task that can be seen is in the list, also before its addition is answered`() async throws {
        let folder = try TemporaryFolder()
        let breakpoint = Breakpoint()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db")) {
            // The first commit is that of the first task.
            $0.afterCommit = { breakpoint.stop() }
        }
        defer { store.close() }
        #expect(try await store.lists([], of: alice))
        async let item = store.added("x", of: alice)
        await breakpoint.waitUntilReached()
        let seen = try #require(try await store.find(1, of: alice))
        #expect(try await store.lists([seen], of: alice))
        breakpoint.resume()
        #expect(try await item == seen)
        #expect(try await store.lists([seen], of: alice))
    }

    @Test(
        "No list is older than an earlier answer to the same person",
        arguments: MovableStore.all.prefix(2).map { ($0, false) } + MovableStore.all[1...2].map { ($0, true) })
    func order(kind: MovableStore, hasOtherServer: Bool) async throws {
        try await kind.with { place in
            let writer = hasOtherServer ? try place.reopened() : place.store
            defer { writer.close() }
            for id in Int64(1)...200 {
                _ = try await place.store.list(.all, of: alice)
                async let added = writer.added("x", of: alice)
                if id.isMultiple(of: 2) {
                    _ = try await added
                    #expect(try await place.store.find(id, of: alice) != nil)
                }
                while try await place.store.find(id, of: alice) == nil {}
                let list = try await place.store.list(.all, of: alice)
                #expect(String(decoding: list.json, as: UTF8.self).contains("{\"Id\":\(id),"))
                _ = try await added
            }
        }
    }

    @Test func `What changes nothing leaves the cached list`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        #expect(try await store.lists([item], of: alice))
        try await store.changeNothing(item)
        #expect(store.cachedList(of: alice, .both) == TaskList(rendering: [item]))
    }
}

extension TaskStore {
    /// Runs commands that change nothing of their owner's only task, whose text is "x".
    func changeNothing(_ item: TaskItem) async throws {
        let (owner, same) = (item.owner, TaskChange(text: item.text, completed: item.completed))
        let other = TaskChange(completed: !item.completed)
        #expect(try await change(item.id, same, expected: nil, at: 2000, of: owner) == .changed(item))
        #expect(try await change(item.id, other, expected: [9], at: 2000, of: owner) == .conflict(item))
        let changes = [IdentifiedChange(id: item.id, change: same)]
        #expect(try await changeAll(changes, at: 2000, of: owner) == .changed(TaskList(rendering: [item])))
        let missing = [IdentifiedChange(id: item.id, change: other), IdentifiedChange(id: 9, change: other)]
        #expect(try await changeAll(missing, at: 2000, of: owner) == .missing([9]))
        #expect(try await remove(item.id, expected: [9], of: owner) == .conflict)
        #expect(try await removeAll(with: TaskText("y"), of: owner) == 0)
        #expect(try await removeCompleted(of: owner) == 0)
        #expect(try await add("y", limit: 1, of: owner) == .full)
    }
}
