import Platform
import Support
import Tasks
import Testing

@Suite("Every store keeps the details of a task", .timeLimit(.minutes(15)))
struct DetailsConformance {
    private let alice = Owner("alice")
    private let key = IdempotencyKey(key: "k", fingerprint: 7)
    /// Now, because stores may remove expired keys at any time.
    private let start = SystemTime().wallMilliseconds

    @Test(
        "A task has the details that it was added with, alone, in a list and in a page", arguments: StoreUnderTest.all)
    func added(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let bare = try await store.added("bare", of: alice)
            let full = try await store.added("full", details: try .example, of: alice)
            #expect(full.details == (try .example))
            let due = try await store.added("due", details: TaskDetails(due: DueDate("0001-01-01")), of: alice)
            let last = TaskDetails(position: TaskPosition(TaskPosition.greatest))
            let items = [bare, full, due, try await store.added("last", details: last, of: alice)]
            for item in items { #expect(try await store.find(item.id, of: alice) == item) }
            #expect(try await store.lists(items, of: alice))
            #expect(try await store.lists(items, TaskQuery(completed: false), of: alice))
            #expect(try await store.lists([full, due], TaskQuery(limit: 2, after: 1), next: 3, of: alice))
        }
    }

    @Test("Additions at the same moment keep their own details", arguments: StoreUnderTest.all)
    func together(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let items = try await withThrowingTaskGroup(of: TaskItem.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let details = TaskDetails(
                            due: number % 2 == 0 ? DueDate("2026-11-\(10 + number % 20)") : nil,
                            notes: number % 3 == 0 ? try TaskNotes("notes \(number)") : nil,
                            position: number % 5 == 0 ? TaskPosition(Double(number) / 8) : nil)
                        let item = try await store.added("task \(number)", details: details, of: alice)
                        #expect(item.details == details)
                        return item
                    }
                }
                return try await group.reduce(into: [TaskItem]()) { $0.append($1) }
            }
            #expect(try await store.lists(items.sorted { $0.id < $1.id }, of: alice))
        }
    }

    @Test("A change sets and removes what it names, and keeps the rest", arguments: StoreUnderTest.all)
    func change(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var item = try await store.added("x", details: try .example, of: alice)
            func expect(_ change: TaskChange, at time: Int64, _ details: TaskDetails) async throws {
                (item.details, item.modified, item.revision) = (details, time, item.revision + 1)
                item.completed = change.completed ?? item.completed
                let revisions: Set = [item.revision - 1]
                #expect(try await store.change(1, change, expected: revisions, at: time, of: alice) == .changed(item))
                #expect(try await store.find(1, of: alice) == item)
            }
            var details = try TaskDetails.example
            try await expect(TaskChange(completed: true), at: 2000, details)
            details.due = DueDate("2026-12-24")
            try await expect(TaskChange(details: TaskDetailsChange(due: .set(details.due))), at: 3000, details)
            details.notes = nil
            try await expect(TaskChange(details: TaskDetailsChange(notes: .set(nil))), at: 4000, details)
            details.position = nil
            try await expect(TaskChange(details: TaskDetailsChange(position: .set(nil))), at: 5000, details)
            details = TaskDetails(notes: try TaskNotes("new"), position: TaskPosition(0))
            let all = TaskDetailsChange(due: .set(nil), notes: .set(details.notes), position: .set(details.position))
            try await expect(TaskChange(details: all), at: 6000, details)
        }
    }

    @Test("A change to the same details changes nothing", arguments: StoreUnderTest.all)
    func noChange(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let details = try TaskDetails.example
            let full = try await store.added("full", details: details, of: alice)
            let same = TaskDetailsChange(
                due: .set(details.due), notes: .set(details.notes), position: .set(details.position))
            let bare = try await store.added("bare", of: alice)
            let none = TaskDetailsChange(due: .set(nil), notes: .set(nil), position: .set(nil))
            for (item, change) in [(full, same), (bare, none)] {
                let change = TaskChange(details: change)
                #expect(try await store.change(item.id, change, expected: [1], at: 2, of: alice) == .changed(item))
                #expect(try await store.find(item.id, of: alice) == item)
            }
        }
    }

    @Test("A retry gets the details of the addition, whatever they are now", arguments: StoreUnderTest.all)
    func retry(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let first = try await store.add("x", details: try .example, at: start, attempt: key, of: alice)
            guard case .added(let item) = first else { throw UnexpectedOutcome(outcome: first) }
            #expect(item.details == (try .example))
            #expect(try await store.find(1, of: alice) == item)
            let change = TaskChange(details: TaskDetailsChange(notes: .set(nil)))
            _ = try await store.change(1, change, expected: nil, at: start, of: alice)
            let again = try await store.add("x", details: try .example, at: start + 1, attempt: key, of: alice)
            #expect(again == .repeated(item))
        }
    }

    @Test("Long notes are kept whole in lists of any length, and count for their pages", arguments: StoreUnderTest.all)
    func longNotes(kind: StoreUnderTest) async throws {
        // Pages of 64 KiB.
        let answers = AnswerMemory(limit: 1 << 20)
        try await kind.with(answers: answers) { store in
            var items: [TaskItem] = []
            for length in [1, 399, 400, 401, TaskNotes.longest] {
                let notes = try TaskNotes(String(repeating: "n", count: length))
                items.append(try await store.added("x", details: TaskDetails(notes: notes), of: alice))
                #expect(try await store.lists(items, of: alice))
                #expect(
                    try await store.lists([items[items.count - 1]], TaskQuery(after: Int64(items.count) - 1), of: alice)
                )
            }
            // With escapes a byte takes six.
            let notes = try TaskNotes(String(repeating: "\u{1}", count: TaskNotes.longest))
            for _ in 0..<3 { items.append(try await store.added("x", details: TaskDetails(notes: notes), of: alice)) }
            let list = try await store.list(.all, of: alice)
            #expect(list == TaskList(rendering: Array(items[...5]), next: 6) || list.next == 6)
            #expect(list.json.count <= answers.pageSize + 6 * TaskNotes.longest + 600)
            #expect(try await store.lists([items[6]], TaskQuery(limit: 1, after: 6), next: 7, of: alice))
            #expect(answers.statistics.refused == 0)
        }
        #expect(answers.statistics.held == 0)
    }
}
