import Support
import Tasks
import Testing

@Suite("Every store numbers changes, and lists them")
struct ChangesConformance {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    private let done = TaskChange(completed: true)

    @Test(arguments: StoreUnderTest.all)
    func `Changes begin with the whole list, and go on after each point`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let beginning = try await store.changes(of: alice)
            #expect(beginning == ChangesPage(rendering: [], next: .beginning))
            let first = try await store.added("first", of: alice)
            let second = try await store.added("second", details: .example, of: alice)
            // The point of an empty list that nobody had made is still known.
            let whole = try await store.changes(since: beginning.next, of: alice)
            #expect(whole == ChangesPage(rendering: [first, second], next: whole.next))
            #expect(try await store.changes(of: alice) == whole)
            #expect(whole.next.number == 2)
            let outcome = try await store.change(1, done, expected: nil, at: 2000, of: alice)
            let changed = try #require(outcome.changed)
            let third = try await store.added("third", key: IdempotencyKey(key: "k", fingerprint: 7), of: alice)
            #expect(try await store.remove(2, of: alice))
            let page = try await store.changes(since: whole.next, of: alice)
            let next = ChangePoint(origin: whole.next.origin, number: 5)
            #expect(page == ChangesPage(rendering: [changed, third], removed: [2], next: next))
            #expect(try await store.changes(since: next, of: alice) == ChangesPage(rendering: [], next: next))
            #expect(try await store.changes(of: bob).next == .beginning)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A command that changes nothing takes no number, and each changed task takes one`(
        kind: StoreUnderTest
    ) async throws {
        try await kind.with { store in
            for number in 1...3 { _ = try await store.added("\(number)", of: alice) }
            _ = try await store.added("other", of: bob)
            let start = try await store.changes(of: alice).next
            #expect(
                try await store.change(1, TaskChange(completed: false), expected: nil, at: 9, of: alice).changed != nil)
            _ = try await store.change(1, done, expected: [7], at: 9, of: alice)
            _ = try await store.remove(1, expected: [7], of: alice)
            #expect(try await store.remove(9, of: alice) == false)
            #expect(try await store.removeCompleted(of: alice) == 0)
            #expect(try await store.add("x", limit: 3, of: alice) == .full)
            #expect(try await store.changes(since: start, of: alice).next == start)
            let list = [1, 2, 3].map { IdentifiedChange(id: $0, change: done) }
            _ = try await store.changeAll(list + [IdentifiedChange(id: 4, change: done)], at: 9, of: alice)
            #expect(try await store.changeNumbers(of: [alice, bob, Owner("nobody")]) == [alice: 3, bob: 1])
            _ = try await store.changeAll(list, at: 9, of: alice)
            #expect(try await store.changeNumbers(of: [alice]) == [alice: 6])
            #expect(try await store.removeCompleted(of: alice) == 3)
            #expect(try await store.changeNumbers(of: [alice]) == [alice: 9])
            let page = try await store.changes(since: start, of: alice)
            #expect(page.removed.sorted() == [1, 2, 3])
            #expect(page.tasks == TaskList(rendering: []))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Pages end at the limit, and what happens to a list between them follows`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            for number in 1...4 { _ = try await store.added("\(number)", of: alice) }
            let first = try await store.changes(limit: 2, of: alice)
            #expect(first.more && first.next == ChangePoint(origin: first.next.origin, number: 4, listed: 2))
            // One that was listed and one that was not are changed, and one of each kind is removed.
            _ = try await store.removeAll(with: try TaskText("2"), of: alice)
            _ = try await store.removeAll(with: try TaskText("3"), of: alice)
            _ = try await store.change(1, done, expected: nil, at: 9, of: alice)
            let last = try await store.added("5", of: alice)
            let second = try await store.changes(since: first.next, limit: 2, of: alice)
            let fourth = try #require(try await store.find(4, of: alice))
            let next = ChangePoint(origin: first.next.origin, number: 4)
            #expect(second == ChangesPage(rendering: [fourth, last], next: next, more: true))
            let changed = try #require(try await store.find(1, of: alice))
            let third = try await store.changes(since: next, limit: 3, of: alice)
            let then = ChangePoint(origin: next.origin, number: 7)
            #expect(third == ChangesPage(rendering: [changed], removed: [2, 3], next: then, more: true))
            let end = ChangePoint(origin: next.origin, number: 8)
            #expect(
                try await store.changes(since: then, limit: 1, of: alice) == ChangesPage(rendering: [last], next: end))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `A page ends at a number of bytes, too`(kind: StoreUnderTest) async throws {
        let answers = AnswerMemory(limit: 1 << 20)
        try await kind.with(answers: answers) { store in
            let start = try await store.added("first", of: alice)
            let point = try await store.changes(of: alice).next
            for _ in 0..<20 { _ = try await store.added(String(repeating: "x", count: 4096), of: alice) }
            for since in [nil, point] {
                var (next, more, count) = (since, true, 0)
                while more {
                    let page = try await store.changes(since: next, of: alice)
                    #expect(page.tasks.json.count < answers.pageSize + 10_000)
                    (next, more, count) = (page.next, page.more, count + 1)
                }
                #expect(count == 3)
            }
            #expect(start.id == 1)
        }
        #expect(answers.statistics.held == 0)
    }

    @Test(arguments: StoreUnderTest.all)
    func `Points of other lists, and those ahead of a list, are not known`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.added("x", of: alice)
            _ = try await store.added("x", of: bob)
            let point = try await store.changes(of: alice).next
            let wrong = [
                try await store.changes(of: bob).next, ChangePoint(origin: point.origin, number: 2),
                ChangePoint(origin: point.origin, number: -1),
                ChangePoint(origin: point.origin, number: .max, listed: 1),
                ChangePoint(origin: point.origin, number: .min, listed: -1),
            ]
            for since in wrong {
                #expect(try await store.read(ListChanges(owner: alice, since: since, limit: 9)) == .forgotten)
            }
            let nobody = ListChanges(owner: Owner("nobody"), since: point, limit: 9)
            #expect(try await store.read(nobody) == .forgotten)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func `Listeners are told the owner and the last number of each commit`(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let told = Recorded<[Owner: Int64]>()
            store.commits.add { changes in
                told.append(Dictionary(changes.map { ($0.owner, $0.number) }, uniquingKeysWith: max))
            }
            _ = try await store.added("x", of: alice)
            await eventually { told.all == [[alice: 1]] }
            _ = try await store.added("y", key: IdempotencyKey(key: "k", fingerprint: 7), of: alice)
            await eventually { told.all == [[alice: 1], [alice: 2]] }
            _ = try await store.find(1, of: alice)
            _ = try await store.change(1, TaskChange(completed: false), expected: nil, at: 9, of: alice)
            #expect(try await store.remove(1, of: alice))
            await eventually { told.all == [[alice: 1], [alice: 2], [alice: 3]] }
        }
    }
}

extension TaskStore {
    /// The changes since a point that the store knows.
    func changes(since: ChangePoint? = nil, limit: Int = 1000, of owner: Owner) async throws -> ChangesPage {
        let outcome = try await read(ListChanges(owner: owner, since: since, limit: limit))
        guard case .page(let page) = outcome else { throw ForgottenPoint() }
        return page
    }
}

struct ForgottenPoint: Error {}

extension ChangesPage {
    /// The page of these tasks.
    init(rendering items: [TaskItem], removed: [Int64] = [], next: ChangePoint, more: Bool = false) {
        self.init(tasks: TaskList(rendering: items), removed: removed, next: next, more: more)
    }
}
