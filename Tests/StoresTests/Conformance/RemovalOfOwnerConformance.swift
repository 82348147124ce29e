import Platform
import Support
import Tasks
import Testing

@Suite("Every store removes everything of an owner")
struct RemovalOfOwnerConformance {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    private let key = IdempotencyKey(key: "k", fingerprint: 1)
    /// A whole second of now, because stores remove what is long past.
    private let start = SystemTime().wallMilliseconds / 1000 * 1000

    private func removeAlice(_ store: any TaskStore, at time: Int64, issued: Int64) async throws(StoreError) {
        try await store.perform(RemoveOwner(owner: alice, issued: issued, time: time))
    }

    @Test("Tasks and keys go, ids go on, and others keep theirs", arguments: StoreUnderTest.all)
    func everything(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let bobs = try await store.added("bob's", of: bob)
            _ = try await store.added("first", at: start, key: key, of: alice)
            _ = try await store.added("second", of: alice)
            _ = try await store.list(.all, of: alice)
            try await removeAlice(store, at: start + 5500, issued: start + 4000)
            #expect(try await store.lists([], of: alice))
            #expect(try await store.found(1...2, of: alice) == [])
            #expect(try await store.lists([bobs], of: bob))
            #expect(try await store.added("third", at: start, key: key, of: alice).id == 3)
        }
    }

    @Test("No point in the changes from before is known, and no removed task", arguments: StoreUnderTest.all)
    func changes(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            for text in ["first", "second"] { _ = try await store.added(text, of: alice) }
            _ = try await store.remove(2, expected: nil, of: alice)
            let before = try await store.changes(of: alice).next
            try await removeAlice(store, at: start + 5500, issued: start + 4000)
            #expect(try await store.read(ListChanges(owner: alice, since: before, limit: 9)) == .forgotten)
            let empty = try await store.changes(of: alice)
            #expect(empty == ChangesPage(rendering: [], next: empty.next) && empty.next != before)
            let third = try await store.added("third", of: alice)
            let page = try await store.changes(since: empty.next, of: alice)
            #expect(page == ChangesPage(rendering: [third], next: page.next) && third.id == 3)
            let whole = ChangePoint(origin: empty.next.origin, number: 0)
            #expect(try await store.changes(since: whole, of: alice).removed == [])
        }
    }

    @Test(
        "No write of a token from before the deletion, or of its second, has an effect", arguments: StoreUnderTest.all)
    func oldTokens(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.added("gone", of: alice)
            try await removeAlice(store, at: start + 5500, issued: start + 4000)
            var addition = AddTask(
                owner: alice, text: try TaskText("new"), completed: true, time: start + 6000, key: nil, limit: 10)
            for issued in [start + 4000, start + 5000, start + 5500] {
                addition.issued = issued
                await expectRefusal(of: addition, by: store)
            }
            #expect(try await store.lists([], of: alice))
            addition.issued = start + 6000
            let item = addition.item(2)
            #expect(try await store.perform(addition) == .added(item))
            try await expectRefusals(of: store, with: item)
            #expect(try await store.lists([item], of: alice))
            // An old token and a new one, whose additions may share a transaction.
            let new = addition
            var old = addition
            old.issued = start + 5000
            async let refusal: Void = expectRefusal(of: [old][0], by: store)
            async let outcome = store.perform(new)
            #expect(try await outcome == .added(new.item(3)))
            await refusal
        }
    }

    /// Expects the refusal of a command with a token from before the deletion.
    private func expectRefusal(
        of command: any TaskCommand, by store: any TaskStore, at place: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: StoreError.ownerDeleted, sourceLocation: place) {
            switch command {
            case let command as AddTask: _ = try await store.perform(command)
            case let command as ChangeTask: _ = try await store.perform(command)
            case let command as ChangeTasks: _ = try await store.perform(command)
            case let command as RemoveTask: _ = try await store.perform(command)
            case let command as RemoveTasks: _ = try await store.perform(command)
            default: Issue.record("no write of a person: \(command)")
            }
        }
    }

    private func expectRefusals(of store: any TaskStore, with item: TaskItem) async throws {
        let change = TaskChange(completed: false)
        let changes = [IdentifiedChange(id: item.id, change: change)]
        let commands: [any TaskCommand] = [
            AddTask(owner: alice, text: item.text, completed: false, time: start + 6000, key: key, limit: 10),
            ChangeTask(owner: alice, id: item.id, change: change, expected: nil, time: start + 6000),
            ChangeTasks(owner: alice, changes: changes, time: start + 6000),
            RemoveTask(owner: alice, id: item.id, expected: nil, time: start + 6000),
            RemoveTasks(owner: alice, .completed, time: start + 6000),
        ]
        for var command in commands {
            command.issued = start + 5000
            await expectRefusal(of: command, by: store)
        }
    }

    @Test(
        "An owner without tasks is deleted as well, for an authority whose clock is ahead",
        arguments: StoreUnderTest.all)
    func empty(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            try await removeAlice(store, at: start + 5500, issued: start + 9000)
            var addition = AddTask(
                owner: alice, text: try TaskText("new"), completed: false, time: start + 6000, key: nil, limit: 10)
            addition.issued = start + 9000
            await expectRefusal(of: addition, by: store)
            addition.issued = start + 10_000
            #expect(try await store.perform(addition) == .added(addition.item(1)))
        }
    }

    @Test(
        "A token from before the deletion repeats it, and removes nothing that was added since",
        arguments: StoreUnderTest.all)
    func repeated(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            _ = try await store.added("gone", of: alice)
            try await removeAlice(store, at: start + 5500, issued: start + 4000)
            let item = try await store.added("new", at: start, key: key, of: alice)
            try await removeAlice(store, at: start + 8500, issued: start + 4000)
            #expect(try await store.lists([item], of: alice))
            #expect(try await store.add("new", at: start, key: key, of: alice) == .repeated(item))
            try await removeAlice(store, at: start + 9500, issued: start + 6000)
            #expect(try await store.lists([], of: alice))
        }
    }

    @Test("Thousands of tasks go, in several transactions", arguments: StoreUnderTest.all)
    func many(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            let count = 3 * RemoveTasks.most + 1
            try await atOnce(0..<count) { try await store.added("\($0)", of: alice) }
            try await removeAlice(store, at: start + 5500, issued: start + 4000)
            #expect(try await store.lists([], of: alice))
            #expect(try await store.added("new", of: alice).id == Int64(count) + 1)
        }
    }
}
