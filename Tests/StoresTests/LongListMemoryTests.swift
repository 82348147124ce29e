import SQLiteStore
import Support
import Tasks
import Testing

@Suite("A long list in memory", .timeLimit(.minutes(15)))
struct LongListMemoryTests {
    private let alice = Owner("alice")
    private let answers = AnswerMemory(limit: 1 << 20)

    private func page(of owner: Owner) throws -> TaskList {
        var page = TaskPage(of: owner, atMost: nil, in: answers)
        for id in Int64(1)...10 {
            let text = try TaskText(String(repeating: "x", count: 4096))
            guard try page.append(TaskItem(id: id, owner: owner, text: text, created: 0, modified: 0)) else { break }
        }
        return page.list()
    }

    private func keep(_ list: TaskList, in memory: ListMemory, of owner: Owner) {
        guard case .mustLoad(let load) = memory.join(owner, { _ in }) else {
            Issue.record("there is a list already")
            return
        }
        memory.finish(load, of: owner, with: .success(list))
    }

    @Test("is counted once for all who are sent it, and not when no one is")
    func once() throws {
        let memory = ListMemory(capacity: 1 << 20, shards: 1, answers: answers)
        keep(try page(of: alice), in: memory, of: alice)
        #expect(answers.statistics.held == 0)
        var first = memory.list(of: alice)
        let held = answers.statistics.held
        #expect(try #require(first).json.count <= held)
        var second = memory.list(of: alice)
        #expect(second == first && answers.statistics.held == held)
        first = nil
        #expect(answers.statistics.held == held)
        second = nil
        #expect(answers.statistics.held == 0)
        #expect(memory.list(of: alice)?.next == 8)
    }

    @Test("is not sent where there is no room for it")
    func refused() throws {
        let memory = ListMemory(capacity: 1 << 20, shards: 1, answers: answers)
        keep(try page(of: alice), in: memory, of: alice)
        var lists = [try page(of: alice)]
        while let list = try? page(of: alice) { lists.append(list) }
        while let lease = answers.lease(1000, for: alice) { lists.append(lists[0].holding(lease)) }
        #expect(memory.list(of: alice) == nil)
        guard case .refused(.noRoomForAnswer) = memory.join(alice, { _ in }) else {
            Issue.record("not refused")
            return
        }
        lists = []
        #expect(memory.list(of: alice) != nil)
    }
}
