import JSON
import Support
import Tasks
import Testing

@Suite("Every store makes a list of changes as a whole")
struct ChangeListConformance {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    private func completed(_ id: Int64, expected: Int64? = nil) -> IdentifiedChange {
        IdentifiedChange(id: id, change: TaskChange(completed: true), expected: expected)
    }

    @Test(arguments: StoreUnderTest.all)
    func `All changes are made, each to its task, and answered in their order`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var items = [
                try await store.added("one", of: alice), try await store.added("two", of: alice),
                try await store.added("three", completed: true, of: alice), try await store.added("four", of: alice),
            ]
            let bobs = try await store.added("one", of: bob)
            #expect(try await store.lists(items, of: alice))
            let changes = [
                completed(3, expected: 1), completed(1, expected: 1),
                IdentifiedChange(id: 2, change: TaskChange(text: try TaskText("zwei"), completed: true)),
                IdentifiedChange(id: 4, change: TaskChange(text: try TaskText("vier"))),
            ]
            let outcome = try await store.changeAll(changes, at: 2000, of: alice)
            for index in [0, 1, 3] { (items[index].modified, items[index].revision) = (2000, 2) }
            items[0].completed = true
            (items[1].text, items[1].completed) = (try TaskText("zwei"), true)
            items[3].text = try TaskText("vier")
            // Nothing differs in the third.
            #expect(outcome == .changed(TaskList(rendering: [items[2], items[0], items[1], items[3]])))
            #expect(try await store.lists(items, of: alice))
            #expect(try await store.lists([bobs], of: bob))
        }
    }

    @Test("A task that is missing, or another's, leaves all as they are, and is named", arguments: StoreUnderTest.all)
    func missing(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let item = try await store.added("x", of: alice)
            _ = try await store.added("bob's", of: bob)
            let bobs = [try await store.added("bob's too", of: bob)]
            let changes = [completed(1), completed(9), completed(2), completed(1 << 40, expected: 4)]
            let outcome = try await store.changeAll(changes, at: 2000, of: alice)
            #expect(outcome == .missing([9, 2, 1 << 40]))
            #expect(try await store.find(1, of: alice) == item)
            #expect(try await store.lists([item], of: alice))
            #expect(try await store.find(2, of: bob) == bobs[0])
            #expect(try await store.changeAll([completed(1)], at: 2000, of: Owner("nobody")) == .missing([1]))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A task of another revision leaves all as they are, and is named`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var items: [TaskItem] = []
            for text in ["a", "b", "c"] { items.append(try await store.added(text, of: alice)) }
            let changes = [completed(1, expected: 1), completed(3, expected: 0), completed(2, expected: 7)]
            #expect(try await store.changeAll(changes, at: 2000, of: alice) == .conflict([3, 2]))
            #expect(try await store.lists(items, of: alice))
            for item in items { #expect(try await store.find(item.id, of: alice) == item) }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A list of the greatest length is made`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            try await atOnce(0..<1000) { try await store.added("\($0)", of: alice) }
            let outcome = try await store.changeAll((1...1000).map { completed($0) }, at: 2000, of: alice)
            var items: [TaskItem] = []
            for id in Int64(1)...1000 { items.append(try #require(try await store.find(id, of: alice))) }
            #expect(outcome == .changed(TaskList(rendering: items)))
            #expect(items.allSatisfy { $0.completed && $0.revision == 2 && $0.modified == 2000 })
            #expect(try await store.removeCompleted(of: alice) == 1000)
            #expect(try await store.lists([], of: alice))
        }
    }

    @Test(
        "Of tasks that are too long for one answer, or have no place, the first are answered, and the others follow",
        arguments: StoreUnderTest.all)
    func tooLong(kind: StoreUnderTest) async throws {
        // Pages have 64 KiB.
        let answers = AnswerMemory(limit: 1 << 20)
        try await kind.with(answers: answers) { store in
            let details = TaskDetails([.notes: .string(String(repeating: "n", count: TaskDetail.notes.longest))])
            for _ in 0..<12 { _ = try await store.added("x", details: details, of: alice) }
            /// Completes these tasks; returns the ids that are answered, and the id after which the others are.
            func change(_ ids: [Int64], at time: Int64) async throws -> (ids: [Int64], next: Int64?) {
                let outcome = try await store.changeAll(ids.map { completed($0) }, at: time, of: alice)
                guard case .changed(let list) = outcome else { throw UnexpectedChanges(outcome: outcome) }
                let tasks = try JSONValue(parsing: list.json).array ?? []
                #expect(list.json.count <= answers.pageSize)
                return (tasks.compactMap { $0["Id"].integer }, list.next)
            }
            #expect(try await change([1, 2, 3], at: 2000) == ([1, 2, 3], nil))
            #expect(try await change([9, 8, 12, 11, 10, 5, 7, 6], at: 2000) == ([9, 8, 12, 11, 10, 5], 5))
            #expect(try await store.find(6, of: alice)?.completed == true)
            let rest = try await store.list(TaskQuery(limit: 2, after: 5), of: alice).json
            #expect(try JSONValue(parsing: rest).array?.compactMap { $0["Id"].integer } == [6, 7])
            // Without a place there is room for one of them. The answers before this one give theirs back soon.
            await eventually { answers.statistics.held == 0 }
            let places = (0..<2).compactMap { _ in answers.place(for: alice) }
            #expect(try await change([4, 1, 2], at: 3000) == ([4], 0) && places.count == 2)
            #expect(try await store.find(4, of: alice)?.completed == true)
            let escaped = TaskChange(text: try TaskText(String(repeating: "\u{1}", count: TaskText.longest)))
            let long = [IdentifiedChange(id: 3, change: escaped)]
            #expect(
                try await store.changeAll(long, at: 3000, of: alice)
                    == .changed(TaskList(rendering: [], next: 2)))
        }
        await eventually { answers.statistics == .init(held: 0, refused: 0) }
    }

    private struct UnexpectedChanges: Error { let outcome: ChangeAllOutcome }

    @Test("Changes of one task in one transaction are all kept, whoever made them", arguments: StoreUnderTest.all)
    func oneTask(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.added("x", of: alice)
            for round in 1...20 {
                let text = TaskChange(text: try TaskText("\(round)"))
                let flag = TaskChange(completed: round.isMultiple(of: 2))
                // The first additions keep the writer busy, so that the changes wait for one transaction.
                try await atOnce(0..<8) { number in
                    guard number > 4 else { return _ = try await store.added("y", of: alice) }
                    _ = try await store.change(1, number == 5 ? text : flag, expected: nil, at: 9, of: alice)
                }
                let task = try #require(try await store.find(1, of: alice))
                #expect(task.text == text.text && task.completed == flag.completed, "\(round)")
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Of lists that change the same tasks at once, one succeeds, as a whole`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            for text in ["a", "b", "c", "d"] { _ = try await store.added(text, of: alice) }
            let outcomes = try await atOnce(0..<20) { number in
                let change = TaskChange(text: try TaskText("by \(number)"))
                // The lists name the tasks in different orders.
                let ids: [Int64] = number.isMultiple(of: 2) ? [1, 2, 3, 4] : [4, 2, 3, 1]
                let changes = ids.map { IdentifiedChange(id: $0, change: change, expected: 1) }
                return try await store.changeAll(changes, at: 2000, of: alice)
            }
            #expect(outcomes.count { if case .changed = $0 { true } else { false } } == 1)
            var texts: Set<TaskText> = []
            for id in Int64(1)...4 {
                let item = try #require(try await store.find(id, of: alice))
                #expect(item.revision == 2)
                texts.insert(item.text)
            }
            #expect(texts.count == 1)
        }
    }

    @Test(
        "Completed tasks are removed, open ones and others' stay, and there is room for as many",
        arguments: StoreUnderTest.all)
    func removeCompleted(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let open = try await store.added("open", of: alice)
            for number in 0..<3 { _ = try await store.added("\(number)", completed: true, of: alice) }
            let bobs = try await store.added("done", completed: true, of: bob)
            #expect(try await store.add("no room", limit: 4, of: alice) == .full)
            #expect(try await store.removeCompleted(of: alice) == 3)
            #expect(try await store.removeCompleted(of: alice) == 0)
            #expect(try await store.lists([open], of: alice))
            #expect(try await store.lists([bobs], of: bob))
            #expect(try await store.removeCompleted(of: Owner("nobody")) == 0)
            #expect(try await store.removeCompleted(of: bob) == 1)
            #expect(try await store.lists([], of: bob))
            for id in Int64(5)...7 {
                #expect(try await store.added("again", limit: 4, of: alice).id == id)
            }
            #expect(try await store.add("no room", limit: 4, of: alice) == .full)
        }
    }
}
