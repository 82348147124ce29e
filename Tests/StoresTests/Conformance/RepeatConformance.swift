import Basics
import JSON
import Support
import Tasks
import Testing

@Suite("Every store makes the next task of one that repeats")
struct RepeatConformance {
    private let alice = Owner("alice")
    /// The 31st of January 2027, UTC.
    private let time: Int64 = 1_801_353_600_000
    private let done = TaskChange(completed: true)

    private func details(_ due: String, _ rule: String?) -> TaskDetails {
        var details = TaskDetails([.due: .string(due), .notes: "n", .position: .real(2.5)])
        details[.repeat] = rule.map { .string($0) }
        return details
    }

    @Test(arguments: StoreUnderTest.all)
    func `However many complete a task at once, one next task comes`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let item = try await store.added("x", details: details("2027-01-31", "FREQ=MONTHLY"), of: alice)
            let outcomes = try await atOnce(0..<24) { _ in
                try await store.change(1, done, expected: nil, at: time, of: alice)
            }
            var finished = item
            (finished.completed, finished.modified, finished.revision) = (true, time, 2)
            finished.details[.repeat] = nil
            #expect(outcomes.count { $0 == .completed(finished, next: 2) } == 1)
            #expect(outcomes.count { $0 == .changed(finished) } == 23)
            // February is too short, and the rule says the day from now on.
            let next = TaskItem(
                id: 2, owner: alice, text: item.text, created: time, modified: time,
                details: details("2027-02-28", "FREQ=MONTHLY;BYMONTHDAY=31"))
            #expect(try await store.lists([finished, next], of: alice))
            // Opened again, the first is one open task, which comes no more.
            let opened = try await store.change(1, TaskChange(completed: false), expected: nil, at: time, of: alice)
            #expect(opened.changed?.details == details("2027-01-31", nil))
            #expect(try await store.change(1, done, expected: nil, at: time, of: alice).changed != nil)
            #expect(try await store.list(.all, of: alice).json.count { $0 == UInt8(ascii: "{") } == 2)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Several are completed at once, each on the person's day`(kind: StoreUnderTest) async throws {
        let text = try TaskText("x")
        try await kind.with { store in
            for rule in ["FREQ=DAILY", nil, "FREQ=WEEKLY;BYDAY=MO"] {
                _ = try await store.added("x", details: details("2027-01-20", rule), of: alice)
            }
            var change = done
            change.completedOn = CivilDate("2027-02-01")
            let changes = (Int64(1)...3).map { IdentifiedChange(id: $0, change: change) }
            let finished = (Int64(1)...3).map { id in
                TaskItem(
                    id: id, owner: alice, text: text, completed: true, created: 1000, modified: time, revision: 2,
                    details: details("2027-01-20", nil))
            }
            let changed = ChangeAllOutcome.changed(TaskList(rendering: finished))
            #expect(try await store.changeAll(changes, at: time, of: alice) == changed)
            let next = zip(Int64(4)..., [("2027-02-02", "FREQ=DAILY"), ("2027-02-08", "FREQ=WEEKLY;BYDAY=MO")]).map {
                TaskItem(id: $0, owner: alice, text: text, created: time, modified: time, details: details($1.0, $1.1))
            }
            #expect(try await store.lists(finished + next, of: alice))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A list without room for the next task refuses, and nothing is changed`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let items = [
                try await store.added("x", details: details("2027-01-20", "FREQ=DAILY"), of: alice),
                try await store.added("y", details: details("2027-01-20", "FREQ=DAILY"), of: alice),
                try await store.added("z", of: alice),
            ]
            func one(_ limit: Int) async throws -> ChangeOutcome {
                try await store.perform(
                    ChangeTask(owner: alice, id: 1, change: done, expected: nil, time: time, limit: limit))
            }
            func all(_ ids: [Int64], _ limit: Int) async throws -> ChangeAllOutcome {
                let changes = ids.map { IdentifiedChange(id: $0, change: done) }
                return try await store.perform(ChangeTasks(owner: alice, changes: changes, time: time, limit: limit))
            }
            #expect(try await one(3) == .full)
            #expect(try await all([3, 1, 2], 4) == .full)
            #expect(try await store.lists(items, of: alice))
            // What does not repeat is completed also in a full list.
            _ = try await all([3], 1)
            #expect(try await store.find(3, of: alice)?.completed == true)
            _ = try await all([3, 1, 2], 5)
            #expect(try await store.find(5, of: alice)?.details == details("2027-02-01", "FREQ=DAILY"))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Neither a finished task repeats, nor one without a day`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let item = try await store.added("x", details: details("2027-01-20", "FREQ=DAILY"), of: alice)
            let other = try await store.added("y", completed: true, details: details("2027-01-20", nil), of: alice)
            let noDay = TaskChange(details: TaskDetailsChange([.due: nil]))
            let daily = TaskChange(details: TaskDetailsChange([.repeat: "FREQ=DAILY"]))
            #expect(
                try await store.change(1, noDay, expected: nil, at: time, of: alice)
                    == .contradiction(.repeatWithoutDue))
            #expect(
                try await store.change(2, daily, expected: nil, at: time, of: alice)
                    == .contradiction(.repeatOfFinished))
            let changes = [IdentifiedChange(id: 2, change: noDay), IdentifiedChange(id: 1, change: noDay)]
            let outcome = try await store.changeAll(changes, at: time, of: alice)
            #expect(outcome == .contradiction(number: 2, .repeatWithoutDue))
            #expect(try await store.lists([item, other], of: alice))
            let neither = TaskChange(details: TaskDetailsChange([.due: nil, .repeat: nil]))
            #expect(try await store.change(1, neither, expected: nil, at: time, of: alice).changed != nil)
        }
    }
}
