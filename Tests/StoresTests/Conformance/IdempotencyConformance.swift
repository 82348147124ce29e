import Platform
import Support
import Tasks
import Testing

@Suite("Every store makes retries safe")
struct IdempotencyConformance {
    private let alice = Owner("alice")
    private let key = IdempotencyKey(key: "k-1", fingerprint: .max)
    /// Now, because stores may remove expired keys at any time.
    private let start = SystemTime().wallMilliseconds

    @Test(arguments: StoreUnderTest.all)
    func `A repeated request adds once, and gets the task as it was added`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let item = try await store.added("x", completed: true, at: start + 1, key: key, of: alice)
            func retry(_ time: Int64) async throws -> AddOutcome {
                try await store.add("x", completed: true, at: time, key: key, of: alice)
            }
            #expect(try await retry(start + 2) == .repeated(item))
            let change = TaskChange(text: try TaskText("changed"), completed: false)
            _ = try await store.change(1, change, expected: nil, at: start + 3, of: alice)
            #expect(try await retry(start + 4) == .repeated(item))
            #expect(try await store.remove(1, of: alice))
            #expect(try await retry(start + 5) == .repeated(item))
            #expect(try await store.lists([], of: alice))
        }
    }

    @Test(
        "Another request with the same key is refused, and another owner may use the key",
        arguments: StoreUnderTest.all)
    func otherRequest(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.add("x", at: start, key: key, of: alice)
            let other = IdempotencyKey(key: key.key, fingerprint: 7)
            #expect(try await store.add("y", at: start, key: other, of: alice) == .keyReused)
            _ = try await store.added("y", at: start, key: other, of: Owner("bob"))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A key is remembered for a day, and a retry does not count for the limit`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.add("x", at: start, key: key, limit: 1, of: alice)
            let late = try await store.add(
                "x", at: start + IdempotencyKey.lifetime - 1, key: key, limit: 1, of: alice)
            #expect(late.repeated != nil)
            let item = try await store.added("x", at: start + IdempotencyKey.lifetime, key: key, of: alice)
            #expect(item.id == 2)
            let again = start + IdempotencyKey.lifetime + 1
            #expect(try await store.add("x", at: again, key: key, of: alice) == .repeated(item))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `The newest thousand keys of an owner are remembered, and few more`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let item = try await store.added("x", at: start, key: key, of: alice)
            let bobsItem = try await store.added("x", at: start, key: key, of: Owner("bob"))
            try await addOthers(2...1000, to: store)
            #expect(try await store.add("x", at: start, key: key, of: alice) == .repeated(item))
            try await addOthers(1001...1033, to: store)
            let second = try await store.added("x", at: start, key: key, of: alice)
            #expect(second.id == 1034)
            #expect(try await store.add("x", at: start, key: key, of: alice) == .repeated(second))
            #expect(try await store.add("x", at: start, key: key, of: Owner("bob")) == .repeated(bobsItem))
        }
    }

    private func addOthers(_ numbers: ClosedRange<Int>, to store: any TaskStore) async throws {
        try await store.addAndRemove(keys: numbers.map { "other-\($0)" }, at: start, of: alice)
    }

    @Test(arguments: StoreUnderTest.all)
    func `Of twenty equal requests at once, one adds`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let outcomes = try await atOnce(0..<20) { _ in try await store.add("x", at: start, key: key, of: alice) }
            let added = outcomes.compactMap { if case .added(let item) = $0 { item } else { nil } }
            #expect(added.count == 1)
            #expect(outcomes.filter { added.first.map(AddOutcome.repeated) == $0 }.count == 19)
        }
    }
}
