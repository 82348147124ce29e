import JSON
import Support
import Tasks
import Testing

@Suite("Pages of changes lose nothing on any store, however long the tasks are")
struct ChangePagesConformance {
    private let alice = Owner("alice")
    private let longest = TaskDetails([.notes: .string(String(repeating: "n", count: TaskDetail.notes.longest))])

    private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    /// Whether a client who asks until nothing more is known has the server's list.
    private func follow(_ client: inout PagedClient, _ store: any TaskStore, limit: Int = 1000) async throws -> Bool {
        repeat {
            client.take(try await store.changes(since: client.next, limit: limit, of: alice))
        } while client.hasMore
        var (query, items) = (TaskQuery.all, [JSONValue]())
        while true {
            let list = try await store.list(query, of: alice)
            items += try JSONValue(parsing: list.json, limits: JSONLimits(bytes: 8 << 20)).array ?? []
            guard let next = list.next else { break }
            query.after = next
        }
        return client.tasks.sorted { $0.key < $1.key }.map(\.value) == items
    }

    @Test(arguments: StoreUnderTest.forLongLists)
    func `A thousand removals are all told, with the least memory for answers`(kind: StoreUnderTest) async throws {
        try await kind.with(answers: AnswerMemory(limit: 1 << 20)) { store in
            try await atOnce(0..<1000) { try await store.added("\($0)", completed: true, of: alice) }
            var client = PagedClient()
            #expect(try await follow(&client, store) && client.tasks.count == 1000)
            #expect(try await store.removeCompleted(of: alice) == 1000)
            #expect(try await follow(&client, store) && client.tasks.isEmpty)
        }
    }

    @Test(arguments: StoreUnderTest.forLongLists)
    func `After removals come tasks of the greatest length`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            try await atOnce(0..<700) { try await store.added("\($0)", completed: true, of: alice) }
            var client = PagedClient()
            #expect(try await follow(&client, store))
            #expect(try await store.removeCompleted(of: alice) == 700)
            try await atOnce(0..<240) { _ in try await store.added(text(4096), details: longest, of: alice) }
            #expect(try await follow(&client, store) && client.tasks.count == 240)
        }
    }

    @Test(arguments: zip(StoreUnderTest.all, isSanitized ? [2, 2, 1, 1] : [8, 4, 4, 2]))
    func `Random histories end with the server's list`(kind: StoreUnderTest, histories: Int) async throws {
        var random = SeededRandom()
        for _ in 0..<histories * testTimes {
            try await kind.with(answers: AnswerMemory(limit: 1 << 20)) { store in
                var client = PagedClient()
                for _ in 0..<4 {
                    for _ in 0..<Int.random(in: 1...4, using: &random) { try await change(store, &random) }
                    let limit = [1, 7, 300, 1000].randomElement(using: &random) ?? 1
                    #expect(try await follow(&client, store, limit: limit))
                }
            }
        }
    }

    /// Adds, changes or removes some tasks.
    private func change(_ store: any TaskStore, _ random: inout SeededRandom) async throws {
        let lengths = [1, 100, 1000, TaskText.longest]
        let newest = try await store.changeNumbers(of: [alice])[alice] ?? 0
        let ids = (0..<60).map { _ in Int64.random(in: 1...max(newest, 1), using: &random) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2:
            let isLong = Bool.random(using: &random)
            let most = Bool.random(using: &random) ? 60 : 300
            let texts = (0..<Int.random(in: 1...most, using: &random)).map { _ in
                (text(lengths.randomElement(using: &random) ?? 1), Bool.random(using: &random))
            }
            try await atOnce(texts) { [longest] text, isDone in
                try await store.added(text, completed: isDone, details: isLong ? longest : TaskDetails(), of: alice)
            }
        case 3:
            let change = TaskChange(text: try TaskText(text(lengths.randomElement(using: &random) ?? 1)))
            try await atOnce(ids) { _ = try await store.change($0, change, expected: nil, at: 2000, of: alice) }
        case 4: try await atOnce(ids) { _ = try await store.remove($0, of: alice) }
        default: _ = try await store.removeCompleted(of: alice)
        }
    }
}

/// What a client has who follows the pages of changes.
private struct PagedClient {
    private(set) var tasks: [Int64: JSONValue] = [:]
    private(set) var next: ChangePoint?
    private(set) var hasMore = true

    mutating func take(_ page: ChangesPage) {
        for task in (try? JSONValue(parsing: page.tasks.json, limits: JSONLimits(bytes: 8 << 20)).array) ?? [] {
            if let id = task["Id"].integer { tasks[id] = task }
        }
        for id in page.removed { tasks[id] = nil }
        (next, hasMore) = (page.next, page.more)
    }
}
