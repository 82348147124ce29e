import StoreEngine
import Tasks
import Testing

@Suite("The list cache")
struct ListCacheTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")
    private let old = TaskList(json: Array("[1]".utf8), entityTag: "old")
    private let new = TaskList(json: Array("[1,2]".utf8), entityTag: "new")

    private func put(_ list: TaskList, of owner: Owner, into cache: ListCache) {
        cache.finish(cache.beginLoad(of: owner), of: owner, with: list)
    }

    private func known(_ cache: ListCache, _ owner: Owner) -> TaskList? { try? cache.list(of: owner)?.get() }

    @Test(arguments: [true, false])
    func `The list of an old load is not kept, whether it ends before a new load or after it`(isFirst: Bool) {
        let cache = ListCache(capacity: 1 << 20)
        let early = cache.beginLoad(of: alice)
        cache.beginChange(by: [OwnerChange(of: alice)])
        cache.endChange(by: [OwnerChange(of: alice)])
        let late = cache.beginLoad(of: alice)
        if isFirst {
            cache.finish(early, of: alice, with: old)
            #expect(known(cache, alice) == nil)
        }
        cache.finish(late, of: alice, with: new)
        if !isFirst { cache.finish(early, of: alice, with: old) }
        #expect(known(cache, alice) == new)
    }

    @Test func `No list is cached while a commit changes it, nor one that was read before the commit was over`() {
        let cache = ListCache(capacity: 1 << 20)
        put(old, of: alice, into: cache)
        put(old, of: bob, into: cache)
        cache.beginChange(by: [OwnerChange(of: alice)])
        #expect(known(cache, alice) == nil)
        #expect(known(cache, bob) == old)
        put(old, of: alice, into: cache)
        #expect(known(cache, alice) == nil)
        let during = cache.beginLoad(of: alice)
        cache.endChange(by: [OwnerChange(of: alice)])
        cache.finish(during, of: alice, with: old)
        #expect(known(cache, alice) == nil)
        put(new, of: alice, into: cache)
        #expect(known(cache, alice) == new)
    }

    @Test func `A list that is kept with a point is answered at that point only`() {
        let cache = ListCache(capacity: 1 << 20)
        let point = ListPoint(ChangePoint(origin: 5, number: 7), writtenBy: 3)
        cache.keep(old, of: alice, at: point)
        #expect(cache.holdsList(of: alice) && !cache.holdsList(of: bob))
        #expect(cache.list(of: alice, at: point) == .success(old))
        for (origin, number, writer) in [(0, 0, 0), (5, 8, 3), (6, 7, 3), (5, 7, 4)] as [(Int64, Int64, Int64)] {
            let other = ListPoint(ChangePoint(origin: origin, number: number), writtenBy: writer)
            #expect(cache.list(of: alice, at: other) == nil)
        }
        #expect(cache.list(of: alice) == nil)
        cache.endChange(by: [OwnerChange(of: alice)])
        #expect(!cache.holdsList(of: alice))
    }

    @Test func `The removal of all lists invalidates every load, and a load that failed keeps nothing`() {
        let cache = ListCache(capacity: 1 << 20)
        put(old, of: bob, into: cache)
        let load = cache.beginLoad(of: alice)
        cache.removeAll()
        cache.finish(load, of: alice, with: old)
        cache.finish(cache.beginLoad(of: bob), of: bob, with: nil)
        #expect(known(cache, alice) == nil)
        #expect(known(cache, bob) == nil)
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

    @Test(arguments: [(500, false), (4000, false), (5000, true)])
    func `A cached list has room for its gzip form`(capacity: Int, isKept: Bool) {
        let cache = ListCache(capacity: capacity)
        put(TaskList(json: [UInt8](repeating: 0x20, count: 3000), entityTag: "t"), of: alice, into: cache)
        #expect((known(cache, alice) != nil) == isKept)
    }

    /// A list that is long enough to need a place.
    private func longList(in answers: AnswerMemory) throws -> TaskList {
        var page = TaskPage(of: alice, atMost: nil, in: answers)
        let text = try TaskText(String(repeating: "x", count: 4096))
        for id in Int64(1)...5 {
            let item = TaskItem(id: id, owner: alice, text: text, created: 0, modified: 0)
            guard try page.append(item) else { break }
        }
        return page.list()
    }

    @Test func `All to whom a long list is sent share one place, which the last of them gives back`() throws {
        let answers = AnswerMemory(limit: 1 << 20)
        let cache = ListCache(capacity: 1 << 20, answers: answers)
        put(try longList(in: answers), of: alice, into: cache)
        #expect(answers.statistics.held == 0)
        var lists = (0..<3).compactMap { _ in known(cache, alice) }
        #expect(lists.count == 3 && lists.allSatisfy { $0.place === lists[0].place })
        #expect(answers.statistics.held == answers.pageSize)
        lists = []
        #expect(answers.statistics.held == 0)
    }

    @Test func `A long list is not sent without a place, and takes the one that its caller has waited for`() throws {
        let answers = AnswerMemory(limit: 1 << 20)
        let cache = ListCache(capacity: 1 << 20, answers: answers)
        put(try longList(in: answers), of: alice, into: cache)
        var places = (0..<2).compactMap { _ in answers.place(for: alice) }
        #expect(cache.list(of: alice) == .failure(.noRoomForAnswer))
        let list = try #require(try cache.list(of: alice, in: places.last)?.get())
        #expect(list.place === places.last && known(cache, alice)?.place === list.place)
        places = []
        #expect(known(cache, alice) != nil)
    }
}
