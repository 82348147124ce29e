import JSON
import Platform
import Support
import Tasks
import Testing

@Suite("Every store keeps the details of a task")
struct DetailsConformance {
    private let alice = Owner("alice")
    private let key = IdempotencyKey(key: "k", fingerprint: 7)
    /// Now, because stores may remove expired keys at any time.
    private let start = SystemTime().wallMilliseconds

    @Test(
        "A task has everything that it was added with, as a person's first, as a later one and under a key",
        arguments: StoreUnderTest.all)
    func added(kind: StoreUnderTest) async throws {
        let bare = TaskItem(id: 0, owner: alice, text: try TaskText("x"), created: 0, modified: 0)
        try await kind.with { store in
            for (number, step) in try Step.all.enumerated() {
                let owner = Owner("owner-\(number)")
                let (value, completed) = (step.after(bare).text.value, step.after(bare).completed)
                let details = step.after(bare).details
                let items = [
                    try await store.added(value, completed: completed, details: details, of: owner),
                    try await store.added(value, completed: completed, details: details, of: owner),
                ]
                func addUnderKey() async throws -> AddOutcome {
                    try await store.add(
                        value, completed: completed, details: details, at: start, key: key, of: owner)
                }
                let keyed = try await store.added(
                    value, completed: completed, details: details, at: start, key: key, of: owner)
                let all = items + [keyed]
                #expect(all.allSatisfy { $0.text == step.after(bare).text && $0.completed == completed }, "\(step)")
                #expect(all.allSatisfy { $0.details == details }, "\(step)")
                for item in all { #expect(try await store.find(item.id, of: owner) == item, "\(step)") }
                #expect(try await store.lists(all, of: owner), "\(step)")
                #expect(try await store.lists([all[1]], TaskQuery(limit: 1, after: 1), next: 2, of: owner), "\(step)")
                // A retry gets the task as it was added, whatever it is now.
                let other = TaskChange(text: try TaskText("y"), details: .removal)
                _ = try await store.change(keyed.id, other, expected: nil, at: start, of: owner)
                #expect(try await addUnderKey() == .repeated(keyed), "\(step)")
            }
        }
    }

    @Test(
        "Each thing of a task is set, changed and removed alone, by itself or in a list; the same again changes nothing",
        arguments: StoreUnderTest.all, [false, true])
    func alone(kind: StoreUnderTest, inList: Bool) async throws {
        try await kind.with { store in
            var items = [
                try await store.added("bare", of: alice),
                try await store.added("full", completed: true, details: .example, of: alice),
            ]
            for (time, step) in zip(Int64(2000)..., try Step.all.flatMap { [$0, $0] }) {
                items = items.map { step.after($0, at: time) }
                if inList {
                    let changes = items.map { IdentifiedChange(id: $0.id, change: step.change) }
                    let changed = ChangeAllOutcome.changed(TaskList(rendering: items))
                    try #require(await store.changeAll(changes, at: time, of: alice) == changed, "\(step)")
                } else {
                    for item in items {
                        let outcome = try await store.change(item.id, step.change, expected: nil, at: time, of: alice)
                        try #require(outcome == .changed(item), "\(step)")
                    }
                }
                for item in items { #expect(try await store.find(item.id, of: alice) == item, "\(step)") }
                #expect(try await store.lists(items, of: alice), "\(step)")
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A list of changes makes another one of each task`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            var (items, changes): ([TaskItem], [IdentifiedChange]) = ([], [])
            for (number, step) in try Step.all.enumerated() {
                let details = number.isMultiple(of: 2) ? TaskDetails() : .example
                let item = try await store.added("x", details: details, of: alice)
                items.append(step.after(item, at: 2000))
                changes.append(IdentifiedChange(id: item.id, change: step.change))
            }
            let changed = ChangeAllOutcome.changed(TaskList(rendering: items))
            #expect(try await store.changeAll(changes, at: 2000, of: alice) == changed)
            #expect(try await store.lists(items, of: alice))
        }
    }

    @Test("Long notes are kept whole in lists of any length, and count for their pages", arguments: StoreUnderTest.all)
    func longNotes(kind: StoreUnderTest) async throws {
        // Pages have 64 KiB.
        let answers = AnswerMemory(limit: 1 << 20)
        try await kind.with(answers: answers) { store in
            var items: [TaskItem] = []
            for length in [1, 399, 400, 401, TaskDetail.notes.longest] {
                let details = TaskDetails([.notes: .string(String(repeating: "n", count: length))])
                items.append(try await store.added("x", details: details, of: alice))
                #expect(try await store.lists(items, of: alice))
                #expect(
                    try await store.lists([items[items.count - 1]], TaskQuery(after: Int64(items.count) - 1), of: alice)
                )
            }
            // With escapes a byte takes six.
            let notes = String(repeating: "\u{1}", count: TaskDetail.notes.longest)
            for _ in 0..<3 {
                items.append(try await store.added("x", details: TaskDetails([.notes: .string(notes)]), of: alice))
            }
            let list = try await store.list(.all, of: alice)
            // Eleven kilobytes of notes, and none of the three that have sixty.
            #expect(list == TaskList(rendering: Array(items[...4]), next: 5))
            #expect(list.json.count <= answers.pageSize)
            #expect(try await store.lists([items[6]], TaskQuery(limit: 1, after: 6), next: 7, of: alice))
            #expect(answers.statistics.refused == 0)
        }
        #expect(answers.statistics.held == 0)
    }
}

extension TaskDetailsChange {
    /// Removes all details.
    fileprivate static var removal: TaskDetailsChange {
        TaskDetailsChange(Dictionary(uniqueKeysWithValues: TaskDetail.allCases.map { ($0, nil) }))
    }
}

/// A change of one thing of a task.
private struct Step: CustomStringConvertible {
    let description: String
    let change: TaskChange
    private let apply: (inout TaskItem) -> Void

    /// Everything that a request can change, each set and changed, and removed where a task may be without.
    static var all: [Step] {
        get throws {
            try steps(\.text, [TaskText("caf\u{E9}"), TaskText("cafe\u{301}")]) { TaskChange(text: $0) }
                + steps(\.completed, [true, false]) { TaskChange(completed: $0) }
                + [Step(description: "nothing", change: TaskChange()) { _ in }]
                + TaskDetail.allCases.flatMap { detail in (detail.samples + [nil]).map { Self.step(detail, $0) } }
        }
    }

    /// A task that repeats has a day on which it is due.
    private static func step(_ detail: TaskDetail, _ value: JSONValue?) -> Step {
        let others: [TaskDetail: JSONValue?] =
            detail == .repeat ? [.due: "2026-11-30"] : detail == .due && value == nil ? [.repeat: nil] : [:]
        let details = [detail: value].merging(others) { $1 }
        let change = TaskChange(details: TaskDetailsChange(details))
        return Step(description: "\(detail) \(value?.rendered ?? "none")", change: change) { item in
            for (detail, value) in details { item.details[detail] = value }
        }
    }

    private static func steps<Value>(
        _ member: WritableKeyPath<TaskItem, Value>, _ values: [Value], _ change: (Value) -> TaskChange
    ) -> [Step] {
        values.map { value in
            Step(description: "\(member) \(value)", change: change(value)) { $0[keyPath: member] = value }
        }
    }

    /// What it makes of a task; nothing if that has this value already.
    func after(_ item: TaskItem, at time: Int64 = 0) -> TaskItem {
        var changed = item
        apply(&changed)
        guard changed != item else { return item }
        (changed.modified, changed.revision) = (time, item.revision + 1)
        return changed
    }
}
