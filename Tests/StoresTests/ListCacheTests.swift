import SQLiteStore
import Platform
import Synchronization
import Tasks
import Testing

@Suite("The list cache", .timeLimit(.minutes(15)))
struct ListCacheTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    private let old = TaskList(json: Array("[1]".utf8), entityTag: "old")
    private let new = TaskList(json: Array("[1,2]".utf8), entityTag: "new")

    private func mustLoad(_ cache: ListCache, _ owner: Owner, _ seen: Seen = Seen()) throws -> ListCache.Load {
        guard case .mustLoad(let load) = cache.join(owner, { seen.append($0) }) else { throw NoLoad() }
        return load
    }

    @Test func `An old load that ends after a new one does not replace its list`() throws {
        let cache = ListCache(capacity: 1 << 20)
        let early = try mustLoad(cache, alice)
        cache.remove(alice)
        let late = try mustLoad(cache, alice)
        cache.finish(late, of: alice, with: .success(new))
        cache.finish(early, of: alice, with: .success(old))
        #expect(cache.list(of: alice) == new)
    }

    @Test("An old load that ends before a new one is not kept, and does not answer those who asked after the change")
    func overlapping() throws {
        let cache = ListCache(capacity: 1 << 20)
        let (before, after) = (Seen(), Seen())
        let early = try mustLoad(cache, alice, before)
        cache.remove(alice)
        let late = try mustLoad(cache, alice, after)
        cache.finish(early, of: alice, with: .success(old))
        #expect(cache.list(of: alice) == nil)
        #expect(after.lists.isEmpty)
        cache.finish(late, of: alice, with: .success(new))
        #expect((before.lists, after.lists) == ([old], [new]))
    }

    @Test func `The removal of all lists invalidates every load`() throws {
        let cache = ListCache(capacity: 1 << 20)
        cache.finish(try mustLoad(cache, bob), of: bob, with: .success(old))
        let load = try mustLoad(cache, alice)
        cache.removeAll()
        cache.finish(load, of: alice, with: .success(old))
        #expect(cache.list(of: alice) == nil)
        #expect(cache.list(of: bob) == nil)
    }

    @Test func `Those who ask for the same list wait for one load, and share its failure`() throws {
        let cache = ListCache(capacity: 1 << 20)
        let seen = Seen()
        let load = try mustLoad(cache, alice, seen)
        for _ in 0..<2 {
            let isJoined = if case .joined = cache.join(alice, { seen.append($0) }) { true } else { false }
            #expect(isJoined)
        }
        cache.finish(load, of: alice, with: .failure(.overloaded))
        #expect(seen.failures == [.overloaded, .overloaded, .overloaded])
        #expect(cache.list(of: alice) == nil)
        _ = try mustLoad(cache, alice)
    }

    @Test func `The cache keeps to its number of bytes, and keeps the lists that are read`() throws {
        let cache = ListCache(capacity: 10_000)
        let list = TaskList(json: [UInt8](repeating: 0x20, count: 1000), entityTag: "t")
        func put(_ owner: Owner) throws {
            cache.finish(try mustLoad(cache, owner), of: owner, with: .success(list))
        }
        try put(alice)
        for number in 0..<100 {
            try put(Owner("\(number)"))
            #expect(cache.list(of: alice) == list)
        }
        let kept = (0..<100).filter { cache.list(of: Owner("\($0)")) != nil }
        #expect((5...7).contains(kept.count))
        #expect(kept.last == 99)
    }

    @Test(arguments: [4000, 5000])
    func `A cached list has room for its gzip form`(capacity: Int) throws {
        let cache = ListCache(capacity: capacity)
        let list = TaskList(json: [UInt8](repeating: 0x20, count: 3000), entityTag: "t")
        cache.finish(try mustLoad(cache, alice), of: alice, with: .success(list))
        #expect((cache.list(of: alice) != nil) == (capacity == 5000))
    }

    @Test func `A list larger than the cache is answered and not kept`() throws {
        let cache = ListCache(capacity: 500)
        let seen = Seen()
        let list = TaskList(json: [UInt8](repeating: 0x20, count: 1000), entityTag: "t")
        cache.finish(try mustLoad(cache, alice, seen), of: alice, with: .success(list))
        #expect(cache.list(of: alice) == nil)
        #expect(seen.lists == [list])
    }

    @Test func `A long list is not sent if there is no room for it`() throws {
        let answers = AnswerMemory(limit: 1 << 20)
        func page(_ character: Unicode.Scalar = "x") throws -> TaskList {
            var page = TaskPage(of: alice, atMost: nil, in: answers)
            let text = try TaskText(String(repeating: Character(character), count: 4096))
            for id in Int64(1)...10 {
                let item = TaskItem(id: id, owner: alice, text: text, created: 0, modified: 0)
                guard try page.append(item) else { break }
            }
            return page.list()
        }
        let cache = ListCache(capacity: 1 << 20, answers: answers)
        cache.finish(try mustLoad(cache, alice), of: alice, with: .success(try page()))
        var lists = [try page()]
        // Each of these is another list, because equal ones share their memory.
        for letter in UInt8(ascii: "A")...UInt8(ascii: "Z") {
            guard let list = try? page(Unicode.Scalar(letter)) else { break }
            lists.append(list)
        }
        while let lease = answers.lease(1000, for: alice) { lists.append(lists[0].holding(lease)) }
        #expect(cache.list(of: alice) == nil)
        let isRefused = if case .known(.failure(.noRoomForAnswer)) = cache.join(alice, { _ in }) { true } else { false }
        #expect(isRefused)
        lists = []
        #expect(cache.list(of: alice) != nil)
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
