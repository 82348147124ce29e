import Support
import Tasks
import Testing

@Suite("Every store cuts long lists")
struct LongListConformance {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    /// Pages have 64 KiB.
    private let small = AnswerMemory(limit: 1 << 20)

    private func text(_ character: String, _ count: Int) -> String { String(repeating: character, count: count) }

    private func add(_ texts: [String], to store: any TaskStore, of owner: Owner) async throws -> [TaskItem] {
        try await atOnce(texts) { try await store.added($0, of: owner) }.sorted { $0.id < $1.id }
    }

    /// Follows the pages from the first, and checks what each has; returns how many tasks each has.
    private func walk(
        _ store: any TaskStore, _ query: TaskQuery, of owner: Owner, expecting items: [TaskItem]
    ) async throws -> [Int] {
        var counts: [Int] = []
        var (query, rest) = (query, items[...])
        while true {
            let page = try await store.list(query, of: owner)
            let count = page.next.map { next in rest.prefix { $0.id <= next }.count } ?? rest.count
            guard count > 0 || rest.isEmpty else { throw NoProgress() }
            #expect(page == TaskList(rendering: Array(rest.prefix(count)), next: page.next))
            counts.append(count)
            rest = rest.dropFirst(count)
            guard let next = page.next else { break }
            query.after = next
        }
        #expect(rest.isEmpty)
        return counts
    }

    private struct NoProgress: Error {}

    @Test(
        "A list is cut at a number of bytes, into pages that join without gaps or duplicates",
        arguments: StoreUnderTest.forLongLists)
    func bytes(kind: StoreUnderTest) async throws {
        try await kind.with(answers: small) { store in
            // The tasks have 300 bytes, 8 KiB, and 49 KiB where every byte is escaped.
            var texts = (0..<120).map { text("x", 1 + $0 * 997 % 4096) }
            for index in [3, 40, 41, 119] { texts[index] = text("\u{1}", 4096) }
            let items = try await add(texts, to: store, of: alice)
            let counts = try await walk(store, .all, of: alice, expecting: items)
            #expect(counts.count > 5)
            #expect(try await walk(store, .all, of: alice, expecting: items) == counts)
            #expect(try await walk(store, TaskQuery(limit: 1000), of: alice, expecting: items) == counts)
            #expect(try await walk(store, TaskQuery(completed: false), of: alice, expecting: items) == counts)
            let ofTwo = try await walk(store, TaskQuery(limit: 2), of: alice, expecting: items)
            #expect(ofTwo.allSatisfy { $0 <= 2 })
            let longest = 6 * 2 * TaskText.longest + 300
            #expect(try await store.list(.all, of: alice).json.count <= max(small.pageSize, longest))
        }
        #expect(small.statistics.held == 0)
    }

    @Test(arguments: StoreUnderTest.forLongLists)
    func `Many short tasks are one list`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var items = try await add((1...1000).map { "task \($0)" }, to: store, of: alice)
            #expect(try await store.lists(items, of: alice))
            items += try await add(["one more"], to: store, of: alice)
            #expect(try await store.lists(items, of: alice))
            items += try await add((1...1500).map { "more \($0)" }, to: store, of: alice)
            #expect(try await store.lists(items, of: alice))
            #expect(try await store.lists(items, TaskQuery(completed: false), of: alice))
            #expect(try await store.lists(Array(items[500...]), TaskQuery(after: 500), of: alice))
            #expect(try await store.lists(Array(items[..<1000]), TaskQuery(limit: 1000), next: 1000, of: alice))
            #expect(try await store.lists(Array(items[..<1001]), TaskQuery(limit: 1001), next: 1001, of: alice))
            #expect(try await store.lists(Array(items[..<2499]), TaskQuery(limit: 2499), next: 2499, of: alice))
            #expect(try await store.lists(items, TaskQuery(limit: 2501), of: alice))
        }
    }

    @Test(arguments: StoreUnderTest.forLongLists)
    func `A list of very many short tasks is cut as well`(kind: StoreUnderTest) async throws {
        // Pages have 400 KiB, which is room for some 1700 tasks.
        let answers = AnswerMemory(limit: 16 * 400 << 10)
        try await kind.with(answers: answers) { store in
            let items = try await add((1...2500).map { "\($0)" }, to: store, of: alice)
            let counts = try await walk(store, .all, of: alice, expecting: items)
            #expect(counts.count == 2 && counts[0] > 1001)
        }
    }

    @Test(arguments: StoreUnderTest.forLongLists)
    func `A cut list has another entity tag than a whole one of the same bytes`(kind: StoreUnderTest) async throws {
        try await kind.with(answers: small) { store in
            var items: [TaskItem] = []
            var (whole, list) = (TaskList(rendering: []), try await store.list(.all, of: alice))
            while list.next == nil {
                whole = list
                items.append(try await store.added(text("x", 4096), of: alice))
                list = try await store.list(.all, of: alice)
            }
            #expect(whole == TaskList(rendering: items.dropLast()))
            #expect(list.json == whole.json && list.next == Int64(items.count - 1) && list.entityTag != whole.entityTag)
        }
    }

    @Test(
        "A list without a place is refused, but no other person's and no short one",
        arguments: StoreUnderTest.forLongLists)
    func noRoom(kind: StoreUnderTest) async throws {
        try await kind.with(answers: small) { store in
            for owner in [alice, bob] { _ = try await add((0..<40).map { _ in text("x", 4096) }, to: store, of: owner) }
            var lists: [TaskList] = []
            // Each list differs from the others, because the tasks are changed between the reads.
            await #expect {
                for round in 0..<100 {
                    lists.append(try await store.list(.all, of: alice))
                    let change = TaskChange(completed: round.isMultiple(of: 2))
                    _ = try await store.change(1, change, expected: nil, at: 2000, of: alice)
                }
            } throws: { error in
                error as? StoreError == .noRoomForAnswer
            }
            #expect(lists.count == 2 && small.statistics.held == 2 * small.pageSize)
            // A page of changes ends with an error, too, not before its time.
            await #expect(throws: StoreError.noRoomForAnswer) { try await store.changes(of: alice) }
            #expect(try await store.changes(limit: 1, of: alice).more)
            #expect(try await store.list(TaskQuery(limit: 1), of: alice).next == 1)
            #expect(try await store.list(.all, of: bob).next != nil)
            lists = []
            // A thread of the store may be about to release the last one.
            await eventually { small.statistics.held == 0 }
            #expect(try await store.list(.all, of: alice).next != nil)
        }
    }

    @Test(
        "All who are sent a whole list from the cache share one copy of it and one place",
        arguments: StoreUnderTest.durable)
    func oneCopy(kind: StoreUnderTest) async throws {
        try await kind.with(answers: small) { store in
            _ = try await add((0..<40).map { _ in text("x", 4096) }, to: store, of: alice)
            var lists = [try await store.list(.all, of: alice)]
            for _ in 0..<10 { lists.append(try await store.list(.all, of: alice)) }
            #expect(Set(lists.map { $0.json.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }).count == 1)
            #expect(lists.allSatisfy { $0.place === lists[0].place } && small.statistics.held == small.pageSize)
            _ = try await store.change(1, TaskChange(completed: true), expected: nil, at: 2000, of: alice)
            let other = try await store.list(.all, of: alice)
            #expect(other != lists[0] && small.statistics.held == 2 * small.pageSize)
        }
        await eventually { small.statistics.held == 0 }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Who has waited for a place gets list and changes with it`(kind: StoreUnderTest) async throws {
        try await kind.with(answers: small) { store in
            _ = try await add((0..<40).map { _ in text("x", 4096) }, to: store, of: alice)
            let places = (0..<2).compactMap { _ in small.place(for: alice) }
            for selection in [TaskQuery.all, TaskQuery(completed: false)] {
                let list = try await store.read(ListTasks(owner: alice, selection: selection, at: places[0]))
                #expect(list.place === places[0] && list.next != nil)
            }
            var query = ListChanges(owner: alice, since: nil, limit: 1000)
            query.place = places[1]
            guard case .page(let page) = try await store.read(query) else { throw NoProgress() }
            #expect(page.tasks.place === places[1] && page.more)
        }
        await eventually { small.statistics.held == 0 }
    }
}
