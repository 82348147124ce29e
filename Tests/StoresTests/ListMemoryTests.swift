import SQLiteStore
import Platform
import Synchronization
import Tasks
import Testing

@Suite("The memory of lists")
struct ListMemoryTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    private let old = TaskList(json: Array("[1]".utf8), entityTag: "old")
    private let new = TaskList(json: Array("[1,2]".utf8), entityTag: "new")

    private func mustLoad(_ memory: ListMemory, _ owner: Owner, _ seen: Seen = Seen()) throws -> ListMemory.Load {
        guard case .mustLoad(let load) = memory.join(owner, { seen.append($0) }) else { throw NoLoad() }
        return load
    }

    @Test("keeps what was loaded")
    func keeps() throws {
        let memory = ListMemory(capacity: 1 << 20)
        let seen = Seen()
        memory.finish(try mustLoad(memory, alice, seen), of: alice, with: .success(old))
        #expect(memory.list(of: alice) == old)
        #expect(memory.list(of: bob) == nil)
        #expect(seen.lists == [old])
        guard case .found(old) = memory.join(alice, { _ in }) else {
            Issue.record("not found")
            return
        }
        memory.drop(alice)
        #expect(memory.list(of: alice) == nil)
    }

    @Test("a list read before a change is not kept after it")
    func stale() throws {
        let memory = ListMemory(capacity: 1 << 20)
        let seen = Seen()
        let load = try mustLoad(memory, alice, seen)
        // The reader has read; now the writer commits and drops; then the reader comes with the old list.
        memory.drop(alice)
        memory.finish(load, of: alice, with: .success(old))
        #expect(memory.list(of: alice) == nil)
        #expect(seen.lists == [old])
    }

    @Test("an old load that ends after a new one does not replace its list")
    func overtaken() throws {
        let memory = ListMemory(capacity: 1 << 20)
        let early = try mustLoad(memory, alice)
        memory.drop(alice)
        let late = try mustLoad(memory, alice)
        memory.finish(late, of: alice, with: .success(new))
        memory.finish(early, of: alice, with: .success(old))
        #expect(memory.list(of: alice) == new)
    }

    @Test("an old load that ends before a new one is not kept, nor answers those who came after the change")
    func overlapping() throws {
        let memory = ListMemory(capacity: 1 << 20)
        let (before, after) = (Seen(), Seen())
        let early = try mustLoad(memory, alice, before)
        memory.drop(alice)
        let late = try mustLoad(memory, alice, after)
        memory.finish(early, of: alice, with: .success(old))
        #expect(memory.list(of: alice) == nil)
        #expect(after.lists.isEmpty)
        memory.finish(late, of: alice, with: .success(new))
        #expect((before.lists, after.lists) == ([old], [new]))
    }

    @Test("dropping everything strikes out every load")
    func dropAll() throws {
        let memory = ListMemory(capacity: 1 << 20)
        memory.finish(try mustLoad(memory, bob), of: bob, with: .success(old))
        let load = try mustLoad(memory, alice)
        memory.dropAll()
        memory.finish(load, of: alice, with: .success(old))
        #expect(memory.list(of: alice) == nil)
        #expect(memory.list(of: bob) == nil)
    }

    @Test("those who ask for the same list wait for one load, and share its failure")
    func joined() throws {
        let memory = ListMemory(capacity: 1 << 20)
        let seen = Seen()
        let load = try mustLoad(memory, alice, seen)
        for _ in 0..<2 {
            guard case .joined = memory.join(alice, { seen.append($0) }) else {
                Issue.record("not joined")
                return
            }
        }
        memory.finish(load, of: alice, with: .failure(.overloaded))
        #expect(seen.failures == [.overloaded, .overloaded, .overloaded])
        #expect(memory.list(of: alice) == nil)
        _ = try mustLoad(memory, alice)
    }

    @Test("stays within its bytes, and keeps what is asked for")
    func bounded() throws {
        let memory = ListMemory(capacity: 10_000, shards: 1)
        let list = TaskList(json: [UInt8](repeating: 0x20, count: 1000), entityTag: "t")
        func put(_ owner: Owner) throws {
            memory.finish(try mustLoad(memory, owner), of: owner, with: .success(list))
        }
        try put(alice)
        for number in 0..<100 {
            try put(Owner("\(number)"))
            #expect(memory.list(of: alice) == list)
        }
        let kept = (0..<100).filter { memory.list(of: Owner("\($0)")) != nil }
        #expect((5...7).contains(kept.count))
        #expect(kept.last == 99)
    }

    @Test("a list larger than the memory is answered and not kept")
    func tooLarge() throws {
        let memory = ListMemory(capacity: 500, shards: 1)
        let seen = Seen()
        let list = TaskList(json: [UInt8](repeating: 0x20, count: 1000), entityTag: "t")
        memory.finish(try mustLoad(memory, alice, seen), of: alice, with: .success(list))
        #expect(memory.list(of: alice) == nil)
        #expect(seen.lists == [list])
    }
}

private struct NoLoad: Error {}

private final class Seen: Sendable {
    private let results = Mutex<[Result<TaskList, StoreError>]>([])

    func append(_ result: Result<TaskList, StoreError>) { results.withLock { $0.append(result) } }

    var lists: [TaskList] { results.withLock { $0 }.compactMap { try? $0.get() } }

    var failures: [StoreError] {
        results.withLock { $0 }.compactMap { if case .failure(let error) = $0 { error } else { nil } }
    }
}
