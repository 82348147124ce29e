import Basics
import OwnerMoves
import Platform
import Support
import Synchronization
import TaskArchive
import Tasks
import Testing

@Suite("Every database moves people to other owners")
struct MoveConformance {
    private let old = Owner("11111111-1111-4111-8111-111111111111")
    private let new = Owner("ext:22222222-1111-4111-8111-111111111111")
    private let other = Owner("33333333-1111-4111-8111-111111111111")
    private let key = IdempotencyKey(key: "k", fingerprint: 7)
    /// Now, because stores may remove expired keys at any time.
    private let start = SystemTime().wallMilliseconds

    private func moved(_ item: TaskItem, to owner: Owner, id: Int64? = nil) -> TaskItem {
        TaskItem(
            id: id ?? item.id, owner: owner, text: item.text, completed: item.completed, created: item.created,
            modified: item.modified, revision: item.revision, details: item.details)
    }

    @Test(arguments: MovableStore.all)
    func `Tasks, revisions, ids that were given and idempotency keys move along`(kind: MovableStore) async throws {
        try await kind.with { place in
            let details = TaskDetails.example
            let first = try await place.store.added("first", details: details, of: old)
            let second = try await place.store.added("keyed", details: details, at: start, key: key, of: old)
            let change = TaskChange(completed: true)
            let changed = try await place.store.change(1, change, expected: [1], at: 2000, of: old)
            var now = try #require(changed.changed)
            _ = try await place.store.added("gone", of: old)
            #expect(try await place.store.remove(3, of: old))
            let others = try await place.store.added("other", of: other)
            // Both lists are cached, if lists are.
            #expect(try await place.store.lists([now, second], of: old))
            #expect(try await place.store.lists([], of: new))
            #expect(first.id == 1)

            let report = try place.move([(old, new)])
            #expect((report.moved.people, report.moved.tasks, report.renumbered, report.isWhole) == (1, 2, 0, true))
            now = moved(now, to: new)
            #expect(try await place.store.lists([now, moved(second, to: new)], of: new))
            #expect(try await place.store.lists([], of: old))
            #expect(try await place.store.lists([others], of: other))
            // If-Match with the revision that was seen before, and with an older one.
            let again = try await place.store.change(1, TaskChange(completed: false), expected: [1], at: 3000, of: new)
            #expect(again == .conflict(now))
            let open = TaskChange(completed: false)
            #expect(try await place.store.change(1, open, expected: [2], at: 3000, of: new).changed != nil)
            // A retry after the move, of a request from before it.
            let retry = try await place.store.add("keyed", details: details, at: start + 1, key: key, of: new)
            #expect(retry == .repeated(moved(second, to: new)))
            #expect(try await place.store.added("next", of: new).id == 4)
            #expect(try await place.store.added("back", of: old).id == 4)
            // The old owner's keys are gone.
            _ = try await place.store.added("keyed", details: details, at: start + 1, key: key, of: old)
            // The numbers of tasks are right as well.
            #expect(try await place.store.add("x", limit: 3, of: new) == .full)
            _ = try await place.store.added("x", limit: 4, of: new)
        }
    }

    @Test(arguments: MovableStore.all)
    func `A list of thousands of tasks moves whole`(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: old)
            let line = try #require(try place.archive.lines().first)
            if place.isFile { place.store.close() }
            _ = try place.archive.add((2...4100).map { line.replacing("\"id\":1,", with: "\"id\":\($0),") })
            let report = try place.move([(old, new)])
            #expect((report.moved.people, report.moved.tasks, report.isWhole) == (1, 4100, true))
            #expect(try place.integer("SELECT count(*) FROM tasks WHERE owner = '\(new.identifier)'") == 4100)
            #expect(try place.integer("SELECT count(*) FROM tasks WHERE owner = '\(old.identifier)'") == 0)
        }
    }

    @Test(
        "A repeated move does nothing, and what the old owner has added since is a conflict",
        arguments: MovableStore.all)
    func repeated(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: old)
            _ = try await place.store.added("gone", of: old)
            #expect(try await place.store.remove(2, of: old))
            try place.move([(old, new)])
            let lines = try place.archive.lines()
            let again = try place.move([(old, new)])
            #expect((again.moved.people, again.empty.count, again.conflicts.count) == (0, 1, 0))
            #expect(try place.archive.lines() == lines)
            _ = try await place.store.added("late", of: old)
            let late = try place.move([(old, new)])
            #expect((late.moved.people, late.conflicts.count) == (0, 1))
            let line = try #require(late.conflicts.first.first)
            #expect((line.number, line.oldTasks, line.newTasks) == (1, 1, 1))
            let merged = try place.move([(old, new)], merging: true)
            #expect((merged.merged.people, merged.merged.tasks, merged.renumbered) == (1, 1, 0))
            #expect(try await place.store.found(1...5, of: new) == [1, 3])
        }
    }

    @Test(arguments: MovableStore.all)
    func `An owner without tasks passes on the ids that were given`(kind: MovableStore) async throws {
        try await kind.with { place in
            for id in 1...3 {
                _ = try await place.store.added("x", of: old)
                #expect(try await place.store.remove(Int64(id), of: old))
            }
            #expect(try place.move([(old, new)]).empty.count == 1)
            let lines = try place.archive.lines()
            #expect(try place.move([(old, new)]).empty.count == 1)
            #expect(try place.archive.lines() == lines)
            #expect(try await place.store.added("x", of: new).id == 4)
        }
    }

    @Test(
        "Who has tasks already keeps them, and a merge puts the others after them in their order",
        arguments: MovableStore.all)
    func merged(kind: MovableStore) async throws {
        try await kind.with { place in
            var items: [TaskItem] = []
            for text in ["a", "b", "c"] { items.append(try await place.store.added(text, at: start, of: old)) }
            let keyed = try await place.store.added("d", at: start, key: key, of: old)
            #expect(try await place.store.remove(2, of: old))
            let own = try await place.store.added("own", of: new)
            let ownKey = IdempotencyKey(key: "own", fingerprint: 1)
            let ownKeyed = try await place.store.added("own key", at: start, key: ownKey, of: new)
            let lines = try place.archive.lines()
            let refused = try place.move([(old, new)])
            #expect((refused.conflicts.count, refused.conflicts.first.first?.oldTasks) == (1, 3))
            #expect(try place.archive.lines() == lines)

            let report = try place.move([(old, new)], merging: true)
            #expect((report.merged.people, report.merged.tasks, report.renumbered) == (1, 3, 1))
            let all = [
                own, ownKeyed, moved(items[0], to: new, id: 3), moved(items[2], to: new, id: 5),
                moved(keyed, to: new, id: 6),
            ]
            #expect(try await place.store.lists(all, of: new))
            #expect(try await place.store.lists([], of: old))
            #expect(try await place.store.add("d", at: start + 1, key: key, of: new) == .repeated(all[4]))
            let ownRetry = try await place.store.add("own key", at: start + 1, key: ownKey, of: new)
            #expect(ownRetry == .repeated(ownKeyed))
            #expect(try await place.store.added("next", of: new).id == 7)
        }
    }

    @Test(
        "Ids that the new owner has given are not given to the moved tasks, even if theirs are gone",
        arguments: MovableStore.all)
    func usedIDs(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: new)
            #expect(try await place.store.remove(1, of: new))
            // Only the key of the first task is left, and a retry answers the id of that task.
            let gone = try await place.store.added("gone", at: start, key: key, of: old)
            #expect(try await place.store.remove(1, of: old))
            let item = try await place.store.added("y", of: old)
            let report = try place.move([(old, new)])
            #expect((report.moved.people, report.renumbered) == (1, 1))
            #expect(try await place.store.lists([moved(item, to: new, id: 3)], of: new))
            let retry = try await place.store.add("gone", at: start + 1, key: key, of: new)
            #expect(retry == .repeated(moved(gone, to: new, id: 2)))
        }
    }

    @Test(
        "A key that both owners have used keeps the new owner's task; one that is expired gives way",
        arguments: MovableStore.all)
    func sameKey(kind: MovableStore) async throws {
        // The key is not expired for the store, which would remove it.
        try await kind.with(time: ManualClock(wallMilliseconds: start - 1000)) { place in
            let expired = start - IdempotencyKey.lifetime - 1
            let live = IdempotencyKey(key: "live", fingerprint: 1)
            let dead = IdempotencyKey(key: "dead", fingerprint: 1)
            _ = try await place.store.add("theirs", at: start, key: live, of: old)
            _ = try await place.store.add("theirs", at: start, key: dead, of: old)
            _ = try await place.store.add("own", at: start, key: live, of: new)
            _ = try await place.store.add("own", at: expired, key: dead, of: new)
            try place.move([(old, new)], merging: true)
            #expect(try await place.store.add("own", at: start, key: live, of: new).repeated?.id == 1)
            #expect(try await place.store.add("theirs", at: start, key: dead, of: new).repeated?.id == 4)
        }
    }

    @Test(arguments: MovableStore.all)
    func `Several old owners of one new one are put together in the order of the map`(kind: MovableStore) async throws {
        try await kind.with { place in
            let first = try await place.store.added("first", of: other)
            let second = try await place.store.added("second", of: old)
            let pairs = [(other, new), (old, new)]
            let plan = try place.plan(pairs, merging: true)
            let report = try place.move(pairs, merging: true)
            #expect((report.moved.people, report.merged.people, report.renumbered) == (1, 1, 1))
            #expect(plan == report)
            #expect(try await place.store.lists([moved(first, to: new), moved(second, to: new, id: 2)], of: new))
        }
    }

    @Test(
        "A plan says what a move does, and changes nothing; who is not in the map is found", arguments: MovableStore.all
    )
    func plan(kind: MovableStore) async throws {
        try await kind.with { place in
            for (owner, count) in [("a", 2), ("b", 1), ("ext:b", 3), ("c", 1), ("ext:d", 1), ("e", 1), ("f", 1)] {
                for _ in 0..<count { _ = try await place.store.added("x", of: Owner(owner)) }
            }
            #expect(try await place.store.remove(1, of: Owner("c")))
            #expect(try await place.store.remove(1, of: Owner("f")))
            let pairs = ["a", "b", "c", "none"].map { (Owner($0), Owner("ext:\($0)")) }
            let lines = try place.archive.lines()
            let plan = try place.plan(pairs)
            #expect((plan.moved.people, plan.moved.tasks) == (1, 2))
            #expect(plan.conflicts.first.map { [Int64($0.number), $0.oldTasks, $0.newTasks] } == [[2, 1, 3]])
            #expect((plan.empty.count, plan.empty.first.map(\.number)) == (2, [3, 4]))
            #expect(try place.archive.lines() == lines)
            #expect(try place.move(pairs) == plan)
            let seen = Mutex<[String]>([])
            let unmapped = try place.mover(onlyReads: true).unmapped(OwnerMap.of(pairs)) { line throws(SystemError) in
                seen.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            }
            #expect(seen.withLock { $0 } == ["e", "ext:d"])
            #expect(unmapped.sample.first.map(\.owner.identifier) == ["e"])
            #expect(unmapped.elsewhere == ["ext": 1])
        }
    }

    @Test(arguments: MovableStore.all)
    func `A plan foresees that a move first removes the keys that are expired`(kind: MovableStore) async throws {
        // The key is not expired for the store, which would remove it.
        let clock = ManualClock(wallMilliseconds: start - IdempotencyKey.lifetime - 1000)
        try await kind.with(time: clock) { place in
            _ = try await place.store.add("gone", at: clock.wallMilliseconds, key: key, of: old)
            #expect(try await place.store.remove(1, of: old))
            let item = try await place.store.added("kept", of: old)
            _ = try await place.store.added("gone", of: new)
            #expect(try await place.store.remove(1, of: new))
            let plan = try place.plan([(old, new)])
            #expect((plan.moved.people, plan.renumbered) == (1, 0))
            #expect(try place.move([(old, new)]) == plan)
            #expect(try await place.store.lists([moved(item, to: new)], of: new))
        }
    }

    @Test(arguments: MovableStore.all)
    func `Where tasks are lost or too many, neither an export nor a move goes on`(kind: MovableStore) async throws {
        for damage in ["DELETE FROM tasks WHERE id = 2", "UPDATE owners SET tasks = 2"] {
            try await kind.with { place in
                for _ in 1...3 { _ = try await place.store.added("x", of: old) }
                try place.run(damage)
                let attempts = [{ _ = try place.archive.lines() }, { _ = try place.move([(old, new)]) }]
                for attempt in attempts {
                    let error = #expect(throws: OperatorError.self) { try attempt() }
                    #expect(error?.message.contains("the rows of owners count") == true)
                }
                #expect(try await place.store.found(1...3, of: old).count >= 2)
                #expect(try await place.store.found(1...3, of: new) == [])
            }
        }
    }

    @Test("A move that is stopped continues where it was, and is done when it is repeated", arguments: MovableStore.all)
    func stopped(kind: MovableStore) async throws {
        try await kind.with { place in
            let pairs = (0..<20).map { (Owner("o\($0)"), Owner("n\($0)")) }
            for (owner, _) in pairs { _ = try await place.store.added("x", of: owner) }
            let part = try place.move(pairs) { $0 < 7 }
            #expect((part.moved.people, part.isWhole) == (7, false))
            let rest = try place.move(pairs)
            #expect((rest.moved.people, rest.empty.count, rest.isWhole) == (13, 7, true))
            for (_, owner) in pairs { #expect(try await place.store.found(1...2, of: owner) == [1]) }
        }
    }

    @Test
    func `A SQLite file that a store uses is not written to, and no store opens one that is written to`() async throws {
        let sqlite = try #require(MovableStore.all.first)
        try await sqlite.with { place in
            let item = try await place.store.added("x", of: old)
            let locked = { (error: any Error) in
                (error as? OperatorError)?.message.contains("stop the server first") == true
            }
            #expect(performing: { _ = try place.mover(onlyReads: false) }, throws: locked)
            #expect(try place.plan([(old, new)]).moved.people == 1)
            #expect(try await place.store.lists([item], of: old))
            var others: [any Error] = []
            try place.move([(old, new)]) { _ in
                do { _ = try place.reopened() } catch { others.append(error) }
                return true
            }
            #expect(others.count == 1)
            #expect((others.first as? OperatorError)?.isDatabaseLocked == true)
        }
    }

    @Test(
        "Nothing is lost and no list is old while both owners are written to and read",
        arguments: MovableStore.all.dropFirst())
    func underLoad(kind: MovableStore) async throws {
        try await kind.with { place in
            let pairs = (0..<12).map { (Owner("old-\($0)"), Owner("new-\($0)")) }
            for (owner, _) in pairs { for _ in 0..<3 { _ = try await place.store.added("before", of: owner) } }
            let load = Load()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (old, new) in pairs {
                    group.addTask {
                        // Bounded, because each list is read whole.
                        for _ in 0..<40 where !load.isOver.withLock({ $0 }) {
                            for owner in [old, new] {
                                _ = try await place.store.added("meanwhile", of: owner)
                                load.added.withLock { $0 += 1 }
                                _ = try await place.store.list(.all, of: owner)
                            }
                        }
                    }
                }
                group.addTask {
                    defer { load.isOver.withLock { $0 = true } }
                    for _ in 0..<3 { try place.move(pairs, merging: true) }
                }
                try await group.waitForAll()
            }
            try place.move(pairs, merging: true)
            // An export finds rows and counts that contradict each other.
            let tasks = try place.archive.lines().filter { $0.contains(#""text""#) }
            #expect(tasks.count == 12 * 3 + load.added.withLock { $0 })
            #expect(tasks.allSatisfy { $0.contains(#""owner":"new-"#) })
            for (old, new) in pairs {
                #expect(try await place.store.lists([], of: old))
                let list = try await place.store.list(.all, of: new)
                let mine = tasks.filter { $0.contains(#""owner":"\#(new.identifier)""#) }.count
                #expect(String(decoding: list.json, as: UTF8.self).split(separator: "\"Text\"").count - 1 == mine)
            }
        }
    }
}

/// How many tasks were added during a move, and whether that is over.
private final class Load: Sendable {
    let isOver = Mutex(false)
    let added = Mutex(0)
}
