import SQLiteStore
import Tasks
import Testing

@Suite("The list cache", .timeLimit(.minutes(15)))
struct ListCacheTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    private let old = TaskList(json: Array("[1]".utf8), entityTag: "old")
    private let new = TaskList(json: Array("[1,2]".utf8), entityTag: "new")

    private func put(_ list: TaskList, of owner: Owner, into cache: ListCache) {
        cache.finish(cache.beginLoad(of: owner), of: owner, with: list)
    }

    private func known(_ cache: ListCache, _ owner: Owner) -> TaskList? { try? cache.list(of: owner)?.get() }

    @Test func `An old load that ends after a new one does not replace its list`() {
        let cache = ListCache(capacity: 1 << 20)
        let early = cache.beginLoad(of: alice)
        cache.beginChange(of: [alice])
        cache.endChange(of: [alice])
        let late = cache.beginLoad(of: alice)
        cache.finish(late, of: alice, with: new)
        cache.finish(early, of: alice, with: old)
        #expect(known(cache, alice) == new)
    }

    @Test func `An old load that ends before a new one is not kept`() {
        let cache = ListCache(capacity: 1 << 20)
        let early = cache.beginLoad(of: alice)
        cache.beginChange(of: [alice])
        cache.endChange(of: [alice])
        let late = cache.beginLoad(of: alice)
        cache.finish(early, of: alice, with: old)
        #expect(known(cache, alice) == nil)
        cache.finish(late, of: alice, with: new)
        #expect(known(cache, alice) == new)
    }

    @Test func `No list is cached while a commit changes it, nor one that was read before the commit was over`() {
        let cache = ListCache(capacity: 1 << 20)
        put(old, of: alice, into: cache)
        put(old, of: bob, into: cache)
        cache.beginChange(of: [alice])
        #expect(known(cache, alice) == nil)
        #expect(known(cache, bob) == old)
        put(old, of: alice, into: cache)
        #expect(known(cache, alice) == nil)
        let during = cache.beginLoad(of: alice)
        cache.endChange(of: [alice])
        cache.finish(during, of: alice, with: old)
        #expect(known(cache, alice) == nil)
        put(new, of: alice, into: cache)
        #expect(known(cache, alice) == new)
    }

    @Test func `The removal of all lists invalidates every load`() {
        let cache = ListCache(capacity: 1 << 20)
        put(old, of: bob, into: cache)
        let load = cache.beginLoad(of: alice)
        cache.removeAll()
        cache.finish(load, of: alice, with: old)
        #expect(known(cache, alice) == nil)
        #expect(known(cache, bob) == nil)
    }

    @Test func `A load that failed keeps nothing`() {
        let cache = ListCache(capacity: 1 << 20)
        cache.finish(cache.beginLoad(of: alice), of: alice, with: nil)
        #expect(known(cache, alice) == nil)
    }

    @Test func `The cache keeps to its number of bytes, and keeps the lists that are read`() {
        let cache = ListCache(capacity: 10_000)
        let list = TaskList(json: [UInt8](repeating: 0x20, count: 1000), entityTag: "t")
        put(list, of: alice, into: cache)
        for number in 0..<100 {
            put(list, of: Owner("\(number)"), into: cache)
            #expect(known(cache, alice) == list)
        }
        let kept = (0..<100).filter { known(cache, Owner("\($0)")) != nil }
        #expect((5...7).contains(kept.count))
        #expect(kept.last == 99)
    }

    @Test(arguments: [4000, 5000])
    func `A cached list has room for its gzip form`(capacity: Int) {
        let cache = ListCache(capacity: capacity)
        let list = TaskList(json: [UInt8](repeating: 0x20, count: 3000), entityTag: "t")
        put(list, of: alice, into: cache)
        #expect((known(cache, alice) != nil) == (capacity == 5000))
    }

    @Test func `A list larger than the cache is not kept`() {
        let cache = ListCache(capacity: 500)
        put(TaskList(json: [UInt8](repeating: 0x20, count: 1000), entityTag: "t"), of: alice, into: cache)
        #expect(known(cache, alice) == nil)
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
        put(try page(), of: alice, into: cache)
        var lists = [try page()]
        // Each of these is another list, because equal ones share their memory.
        for letter in UInt8(ascii: "A")...UInt8(ascii: "Z") {
            guard let list = try? page(Unicode.Scalar(letter)) else { break }
            lists.append(list)
        }
        while let lease = answers.lease(1000, for: alice) { lists.append(lists[0].holding(lease)) }
        let isRefused = if case .failure(.noRoomForAnswer)? = cache.list(of: alice) { true } else { false }
        #expect(isRefused)
        lists = []
        #expect(known(cache, alice) != nil)
    }
}
