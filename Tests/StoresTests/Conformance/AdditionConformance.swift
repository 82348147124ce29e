import Support
import Tasks
import Testing

@Suite("Every store adds tasks")
struct AdditionConformance {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    @Test(arguments: StoreUnderTest.all)
    func `Ids count from 1 for each owner, and added tasks are listed`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let first = try await store.added("first", at: 5000, of: alice)
            let second = try await store.added("second", completed: true, at: 6000, of: alice)
            let other = try await store.added("other", of: bob)
            #expect(
                first
                    == TaskItem(
                        id: 1, owner: alice, text: try TaskText("first"), completed: false, created: 5000,
                        modified: 5000, revision: 1))
            #expect((second.id, second.completed, second.created) == (2, true, 6000))
            #expect(other.id == 1)
            #expect(try await store.lists([first, second], of: alice))
            #expect(try await store.lists([other], of: bob))
            #expect(try await store.lists([], of: Owner("carol")))
            // Two owners whose names differ only by normalization.
            let hers = try await store.added("mine", of: Owner("ren\u{E9}"))
            #expect(try await store.lists([hers], of: Owner("ren\u{E9}")))
            #expect(try await store.lists([], of: Owner("rene\u{301}")))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Every text is kept byte for byte`(kind: StoreUnderTest) async throws {
        let texts = [
            "caf\u{E9}", "cafe\u{301}", "😀👩‍👩‍👧", "'; DROP TABLE tasks; --", "\"\\\n\t\u{1}", " ", "%_",
            String(repeating: "x", count: 4096), String(repeating: "é", count: 2048), "\u{FEFF}bom",
        ]
        try await kind.with { store in
            var items: [TaskItem] = []
            for text in texts { items.append(try await store.added(text, of: alice)) }
            #expect(try await store.lists(items, of: alice))
            for (item, text) in zip(items, texts) {
                let found = try #require(try await store.find(item.id, of: alice))
                #expect(found.text.value.utf8.elementsEqual(text.utf8))
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Additions succeed up to the limit, and again below it, and ids are never used again`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            #expect(try await store.add("x", limit: 0, of: alice) == .full)
            for _ in 1...3 { _ = try await store.add("x", limit: 3, of: alice) }
            #expect(try await store.add("x", limit: 3, of: alice) == .full)
            let key = IdempotencyKey(key: "k", fingerprint: 1)
            #expect(try await store.add("x", key: key, limit: 3, of: alice) == .full)
            #expect(try await store.added("x", of: bob).id == 1)
            _ = try await store.remove(2, of: alice)
            #expect(try await store.added("x", limit: 3, of: alice).id == 4)
            #expect(try await store.removeAll(with: try TaskText("x"), of: alice) == 3)
            for id in Int64(5)...7 { #expect(try await store.added("z", limit: 3, of: alice).id == id) }
            #expect(try await store.add("z", limit: 3, of: alice) == .full)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Many additions at once leave no gaps, and keep their own details`(kind: StoreUnderTest) async throws {
        let owners = (0..<8).map { Owner("owner-\($0)") }
        try await kind.with { store in
            let items = try await atOnce(0..<400) { number in
                var details = TaskDetails()
                for (index, detail) in TaskDetail.allCases.enumerated() where number % (index + 2) == 0 {
                    details[detail] = detail.samples[number % detail.samples.count]
                }
                let owner = owners[number % owners.count]
                let item = try await store.added("task \(number)", details: details, of: owner)
                #expect(item.details == details)
                return item
            }
            for owner in owners {
                let mine = items.filter { $0.owner == owner }.sorted { $0.id < $1.id }
                #expect(mine.map(\.id) == Array(1...50))
                #expect(try await store.lists(mine, of: owner))
            }
        }
    }
}
