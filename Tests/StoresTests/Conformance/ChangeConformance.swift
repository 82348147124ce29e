import PostgreSQLStore
import SQLiteStore
import Support
import Tasks
import Testing

@Suite("Every store changes and removes tasks")
struct ChangeConformance {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    @Test("Of two names of a value, the one that differs from the stored value counts", arguments: StoreUnderTest.all)
    func names(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var item = try await store.added("a", at: 1000, of: alice)
            var copy = TaskChange(text: try TaskText("a"), completed: true)
            copy.oldNames = TaskChange.OldNames(text: try TaskText("b"), completed: false, modified: nil)
            (item.text, item.completed, item.modified, item.revision) = (try TaskText("b"), true, 2000, 2)
            #expect(try await store.change(1, copy, expected: nil, at: 2000, of: alice) == .changed(item))
            // Now both names of the text differ from what is stored, or of the copy only the old one does.
            copy.text = try TaskText("c")
            copy.oldNames?.text = try TaskText("a")
            #expect(try await store.change(1, copy, expected: nil, at: 3000, of: alice) == .contradiction(.text))
            let changes = [
                IdentifiedChange(id: 2, change: TaskChange(completed: true)), IdentifiedChange(id: 1, change: copy),
                IdentifiedChange(id: 3, change: TaskChange(completed: true)),
            ]
            let other = try await store.added("other", of: alice)
            let third = try await store.added("third", of: alice)
            let outcome = try await store.changeAll(changes, at: 3000, of: alice)
            #expect(outcome == .contradiction(number: 2, .text))
            copy.text = item.text
            copy.oldNames?.modified = "1970-01-01T00:00:01.000Z"
            #expect(try await store.change(1, copy, expected: nil, at: 3000, of: alice) == .changed(item))
            #expect(try await store.lists([item, other, third], of: alice))
        }
    }

    @Test(
        "A change is refused at an unexpected revision, of a missing task, and of another owner's",
        arguments: StoreUnderTest.all)
    func refused(kind: StoreUnderTest) async throws {
        let change = TaskChange(completed: true)
        try await kind.with { store in
            let item = try await store.added("x", of: alice)
            #expect(try await store.change(1, change, expected: [2, 3], at: 2000, of: alice) == .conflict(item))
            #expect(try await store.change(1, change, expected: [], at: 2000, of: alice) == .conflict(item))
            #expect(try await store.change(2, change, expected: nil, at: 2000, of: alice) == .missing)
            #expect(try await store.change(1, change, expected: nil, at: 2000, of: bob) == .missing)
            #expect(try await store.find(1, of: alice) == item)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Of many conditional changes at once, one succeeds`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.added("x", of: alice)
            let outcomes = try await atOnce(0..<20) { number in
                let change = TaskChange(text: try TaskText("by \(number)"))
                return try await store.change(1, change, expected: [1], at: 2000, of: alice)
            }
            #expect(outcomes.count { $0.changed != nil } == 1)
            #expect(try await store.find(1, of: alice)?.revision == 2)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A task is removed once, by its owner, and in a state that is expected`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.added("x", of: alice)
            _ = try await store.change(1, TaskChange(completed: true), expected: nil, at: 6, of: alice)
            let item = try #require(try await store.find(1, of: alice))
            for revisions in [[1], [3], []] as [Set<Int64>] {
                #expect(try await store.remove(1, expected: revisions, of: alice) == .conflict)
            }
            for revisions in [nil, [2]] as [Set<Int64>?] {
                #expect(try await store.remove(1, expected: revisions, of: bob) == .missing)
            }
            #expect(try await store.lists([item], of: alice))
            #expect(try await store.remove(1, expected: [1, 2], of: alice) == .removed)
            for revisions in [nil, [2]] as [Set<Int64>?] {
                #expect(try await store.remove(1, expected: revisions, of: alice) == .missing)
            }
            #expect(try await store.lists([], of: alice))
            #expect(try await store.added("y", of: alice).id == 2)
            #expect(try await store.remove(2, expected: nil, of: alice) == .removed)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `All tasks with the same bytes of text are removed, and only the owner's`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            for text in ["caf\u{E9}", "tea", "caf\u{E9}", "cafe\u{301}", "CAF\u{C9}"] {
                _ = try await store.added(text, of: alice)
            }
            let bobs = try await store.added("caf\u{E9}", of: bob)
            #expect(try await store.removeAll(with: try TaskText("caf\u{E9}"), of: alice) == 2)
            #expect(try await store.removeAll(with: try TaskText("caf\u{E9}"), of: alice) == 0)
            var left: [Int64] = []
            for id in Int64(1)...5 where try await store.find(id, of: alice) != nil { left.append(id) }
            #expect(left == [2, 4, 5])
            #expect(try await store.lists([bobs], of: bob))
        }
    }

    @Test("A removal of many tasks takes a transaction for each 256 of them", arguments: StoreUnderTest.durable)
    func manyRemoved(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            func commits() throws -> Int {
                let ofFile = (store as? SQLiteTaskStore)?.statistics
                return try #require(ofFile ?? (store as? PostgreSQLTaskStore)?.statistics).commits
            }
            try await atOnce(0..<600) { try await store.added("x", completed: $0 < 300, of: alice) }
            let before = try commits()
            #expect(try await store.removeCompleted(of: alice) == 300)
            #expect(try commits() == before + 2)
            #expect(try await store.removeAll(with: try TaskText("x"), of: alice) == 300)
            #expect(try commits() == before + 4)
            #expect(try await store.lists([], of: alice))
        }
    }
}
