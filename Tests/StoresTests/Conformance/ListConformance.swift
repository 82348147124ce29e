import Support
import Tasks
import Testing

@Suite("Every store lists tasks")
struct ListConformance {
    private let alice = Owner("alice")

    @Test(arguments: StoreUnderTest.all)
    func `Pages join without gaps or duplicates`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var items: [TaskItem] = []
            for number in 1...5 { items.append(try await store.added("task \(number)", of: alice)) }
            _ = try await store.remove(2, of: alice)
            items.remove(at: 1)
            func page(_ after: Int64?, _ shown: [TaskItem], next: Int64?) async throws -> Bool {
                try await store.lists(shown, TaskQuery(limit: 2, after: after), next: next, of: alice)
            }
            #expect(try await page(nil, [items[0], items[1]], next: 3))
            #expect(try await page(3, [items[2], items[3]], next: nil))
            #expect(try await page(2, [items[1], items[2]], next: 4))
            #expect(try await page(5, [], next: nil))
            #expect(try await store.lists([], TaskQuery(limit: 0), of: alice))
            #expect(try await store.lists(items, TaskQuery(limit: .max), of: alice))
            #expect(try await store.lists(Array(items[1...]), TaskQuery(after: 1), of: alice))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Completed or open tasks are listed alone, also by pages`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var items: [TaskItem] = []
            for number in 1...6 {
                items.append(try await store.added("\(number)", completed: number.isMultiple(of: 2), of: alice))
            }
            let done = [items[1], items[3], items[5]]
            #expect(try await store.lists(done, TaskQuery(completed: true), of: alice))
            #expect(try await store.lists([items[0], items[2], items[4]], TaskQuery(completed: false), of: alice))
            let first = TaskQuery(completed: true, limit: 1)
            #expect(try await store.lists([done[0]], first, next: 2, of: alice))
            #expect(try await store.lists([done[2]], TaskQuery(completed: true, limit: 1, after: 4), of: alice))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A list shows every change that was answered before`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            try await atOnce(0..<8) { number in
                let owner = Owner("owner-\(number % 4)")
                for round in 0..<25 {
                    let item = try await store.added("\(number) \(round)", of: owner)
                    let json = String(decoding: try await store.list(.all, of: owner).json, as: UTF8.self)
                    #expect(json.contains(#""task":"\#(number) \#(round)""#))
                    #expect(try await store.remove(item.id, of: owner))
                    let after = String(decoding: try await store.list(.all, of: owner).json, as: UTF8.self)
                    #expect(!after.contains(#""task":"\#(number) \#(round)""#))
                }
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A closed store refuses every call`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            try await store.check()
            _ = try await store.added("x", of: alice)
            _ = try await store.list(.all, of: alice)
            store.close()
            await #expect(throws: StoreError.overloaded) { try await store.check() }
            await #expect(throws: StoreError.overloaded) { _ = try await store.added("y", of: alice) }
            await #expect(throws: StoreError.overloaded) { _ = try await store.list(.all, of: alice) }
            await #expect(throws: StoreError.overloaded) { _ = try await store.list(TaskQuery(limit: 1), of: alice) }
            await #expect(throws: StoreError.overloaded) { _ = try await store.find(1, of: alice) }
            store.close()
        }
    }
}
