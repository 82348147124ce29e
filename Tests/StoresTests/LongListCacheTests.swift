import SQLiteStore
import Support
import Tasks
import Testing

@Suite("A long list in the list cache", .timeLimit(.minutes(15)))
struct LongListCacheTests {
    private let alice = Owner("alice")
    private let answers = AnswerMemory(limit: 1 << 20)

    private func page(of owner: Owner, _ character: Unicode.Scalar = "x") throws -> TaskList {
        var page = TaskPage(of: owner, atMost: nil, in: answers)
        for id in Int64(1)...10 {
            let text = try TaskText(String(repeating: Character(character), count: 4096))
            guard try page.append(TaskItem(id: id, owner: owner, text: text, created: 0, modified: 0)) else { break }
        }
        return page.list()
    }

    private func keep(_ list: TaskList, in cache: ListCache, of owner: Owner) {
        guard case .mustLoad(let load) = cache.join(owner, { _ in }) else {
            Issue.record("the list is cached already")
            return
        }
        cache.finish(load, of: owner, with: .success(list))
    }

    @Test("It is not sent if there is no room for it")
    func refused() throws {
        let cache = ListCache(capacity: 1 << 20, answers: answers)
        keep(try page(of: alice), in: cache, of: alice)
        var lists = [try page(of: alice)]
        // Each another one: equal ones share their memory.
        var characters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).makeIterator()
        while let next = characters.next(), let list = try? page(of: alice, Unicode.Scalar(next)) { lists.append(list) }
        while let lease = answers.lease(1000, for: alice) { lists.append(lists[0].holding(lease)) }
        #expect(cache.list(of: alice) == nil)
        guard case .known(.failure(.noRoomForAnswer)) = cache.join(alice, { _ in }) else {
            Issue.record("not refused")
            return
        }
        lists = []
        #expect(cache.list(of: alice) != nil)
    }
}
