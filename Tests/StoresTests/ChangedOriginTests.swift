import Platform
import SQLiteStore
import Support
import TaskArchive
import Tasks
import Testing

@Suite("Points from before a list was moved, imported or restored are not known")
struct ChangedOriginTests {
    private let old = Owner("11111111-1111-4111-8111-111111111111")
    private let new = Owner("ext:22222222-1111-4111-8111-111111111111")

    private func isForgotten(_ point: ChangePoint, in store: any TaskStore, of owner: Owner) async throws -> Bool {
        try await store.read(ListChanges(owner: owner, since: point, limit: 9)) == .forgotten
    }

    @Test(arguments: MovableStore.all)
    func `A move begins new lists of both owners`(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: old)
            _ = try await place.store.added("gone", of: old)
            #expect(try await place.store.remove(2, of: old))
            _ = try await place.store.added("y", of: new)
            let points = (try await place.store.changes(of: old).next, try await place.store.changes(of: new).next)
            try place.move([(old, new)], merging: true)
            #expect(try await isForgotten(points.0, in: place.store, of: old))
            #expect(try await isForgotten(points.1, in: place.store, of: new))
            // Those who only look at the numbers notice it, too.
            #expect(try await place.store.changeNumbers(of: [old, new]) == [old: 4, new: 2])
            let page = try await place.store.changes(of: new)
            #expect(page.tasks == (try await place.store.list(.all, of: new)))
            _ = try await place.store.added("z", of: new)
            let then = try await place.store.changes(since: page.next, of: new)
            #expect(then.next.number == 3 && then.removed.isEmpty)
        }
    }

    @Test(arguments: MovableStore.all)
    func `An import begins a new list of whoever gets tasks by it`(kind: MovableStore) async throws {
        try await kind.with { source in
            _ = try await source.store.added("x", of: old)
            _ = try await source.store.added("y", of: old)
            let lines = try source.archive.lines()
            try await kind.with { target in
                _ = try await target.store.added("x", of: old)
                _ = try await target.store.added("x", of: new)
                let point = try await target.store.changes(of: old).next
                let others = try await target.store.changes(of: new).next
                target.store.close()
                _ = try target.archive.add(lines)
                let store = try target.reopened()
                defer { store.close() }
                #expect(try await isForgotten(point, in: store, of: old))
                #expect(try await store.changes(of: old).tasks == (try await store.list(.all, of: old)))
                #expect(try await store.changes(since: others, of: new).next == others)
            }
        }
    }

    @Test func `A restored copy begins new lists, each time that it is restored`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tasks.db")
        var store = try SQLiteTaskStore.open(path: path)
        _ = try await store.added("x", of: old)
        let first = try await store.changes(of: old).next
        let copy = folder.file("copy.db")
        try SQLiteFile(path).backup(to: copy)
        var points = [first]
        for _ in 0..<2 {
            store.close()
            _ = try SQLiteRestore(of: path, from: copy)
            store = try SQLiteTaskStore.open(path: path)
            for point in points { #expect(try await isForgotten(point, in: store, of: old)) }
            points.append(try await store.changes(of: old).next)
        }
        store.close()
    }
}
