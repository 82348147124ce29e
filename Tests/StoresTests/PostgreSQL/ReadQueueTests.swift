@testable import PostgreSQLStore
import PostgreSQL
import Tasks
import Testing

@Suite("Reads that wait for PostgreSQL", .timeLimit(.minutes(15)))
struct ReadQueueTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    /// A queue of these lists, each of one caller.
    private func queued(_ lists: [(TaskQuery, Owner)]) -> ReadQueue {
        var queue = ReadQueue()
        for (query, owner) in lists { queue.append(list(query, owner), since: 5) }
        return queue
    }

    private func list(_ query: TaskQuery, _ owner: Owner) -> Read<TaskList> {
        Read(.list(query, of: owner, in: AnswerMemory()), for: [Caller(nil)])
    }

    private func find(_ id: Int64, _ owner: Owner) -> Read<TaskItem?> {
        Read(.find(id, of: owner), for: [Caller(nil)])
    }

    /// A kind of read that the queue knows nothing of.
    private func other(_ owner: Owner) -> Read<Int> {
        Read(ReadOperation(statement: Statement(.list, of: owner)) { .done($0.count) }, for: [Caller(nil)])
    }

    @Test("Reads of the same list are one")
    func joining() {
        let done = TaskQuery(completed: true)
        var queue = queued([(.all, alice), (.all, alice), (done, alice), (done, alice), (.all, bob)])
        #expect(queue.removeAll().map(\.callerCount) == [2, 2, 1])
        #expect(queue.isEmpty)
    }

    @Test("A list with a limit and one without are two, also where their statements are equal")
    func limits() {
        let (open, limited) = (TaskQuery(completed: false), TaskQuery(completed: false, limit: 1000))
        #expect(list(open, alice).statement == list(limited, alice).statement)
        var queue = queued([(open, alice), (limited, alice), (open, alice), (limited, alice)])
        #expect(queue.removeAll().map(\.callerCount) == [2, 2])
    }

    @Test("Equal reads of one task are one as well, and those of any other kind")
    func joiningAnyKind() {
        var queue = ReadQueue()
        for read in [find(1, alice), find(1, alice), find(2, alice), find(1, bob)] { queue.append(read, since: 5) }
        for _ in 0..<3 { queue.append(other(alice), since: 5) }
        queue.append(list(.all, alice), since: 5)
        #expect(queue.removeAll().map(\.callerCount) == [2, 1, 1, 3, 1])
    }

    @Test("Reads of owners whose names differ only by normalization are two")
    func normalization() {
        var queue = queued([(.all, Owner("ren\u{E9}")), (.all, Owner("rene\u{301}"))])
        #expect(queue.removeAll().map(\.callerCount) == [1, 1])
        #expect(Parameter.text("ren\u{E9}") != .text("rene\u{301}"))
        #expect(Parameter.texts(["ren\u{E9}"]) != .texts(["rene\u{301}"]))
    }

    @Test("An owner who asks for many lists lets others go first")
    func fairness() {
        let many = (1...100).map { (TaskQuery(after: $0), alice) }
        var queue = queued(many + [(.all, bob)])
        let (first, second) = (queue.next(64), queue.next(64))
        #expect(first.count == 2)
        #expect(second.count == 1)
        #expect(first.map(\.statement.owner) == [alice, bob])
    }

    @Test("Owners take turns whatever they read, except one task")
    func turns() {
        var queue = queued([(.all, alice)])
        queue.append(other(alice), since: 5)
        for id in 1...3 { queue.append(find(Int64(id), alice), since: 5) }
        #expect(queue.next(64).map { "\($0.statement.text)" }.count == 4)
        #expect(queue.next(64).count == 1)
        #expect(queue.isEmpty)
    }

    @Test("Reads that were sent without success go first, and are not joined")
    func puttingBack() {
        var queue = queued([(.all, alice)])
        let sent = queue.next(64)
        queue.append(list(.all, alice), since: 6)
        queue.putBack(sent)
        let first = queue.next(64)
        #expect(first.map(\.since) == [5])
        #expect(queue.next(64).map(\.since) == [6])
    }

    @Test("Reads that have waited too long are taken out, and not joined then")
    func lateness() {
        var queue = queued([(.all, alice)])
        #expect(queue.removeAll(since: 5).isEmpty)
        #expect(queue.removeAll(since: 6).count == 1)
        #expect(queue.isEmpty)
        queue.append(list(.all, alice), since: 7)
        #expect(queue.next(64).map(\.callerCount) == [1])
    }
}

@Suite("A batch of reads", .timeLimit(.minutes(15)))
struct ReadBatchTests {
    private let alice = Owner("alice")

    private func batch(_ count: Int) -> ReadBatch {
        ReadBatch((1...count).map { Read(.find(Int64($0), of: alice), for: [Caller(nil)]) })
    }

    @Test("Reads after a failed one are sent again, and the failed one if that may help")
    func failure() {
        for (code, again) in [("26000", [1, 0]), ("42501", [0])] {
            var batch = batch(2)
            batch.fail(PostgreSQLError(sqlState: code, message: "x"), at: 0)
            let result = batch.result()
            #expect(result.reads.map(\.retry.tries) == again)
            #expect(result.answeredReads == 2 - again.count)
        }
    }

    @Test("A lost session refuses all reads without an answer, also those to be sent again")
    func loss() async throws {
        await #expect(throws: StoreError.overloaded) {
            _ = try await Reply<TaskItem?>.awaiting { reply in
                var batch = ReadBatch([Read(.find(1, of: alice), for: [Caller(reply)])])
                batch.fail(PostgreSQLError(sqlState: "26000", message: "x"), at: 0)
                #expect(batch.lost(.overloaded).answeredReads == 1)
            }
        }
    }
}

@Suite("A caller", .timeLimit(.minutes(15)))
struct CallerTests {
    @Test("A caller whose request is dropped is answered")
    func dropped() async {
        await #expect(throws: StoreError.broken(reason: "a request was dropped without an answer")) {
            try await Reply<Int>.awaiting { _ = Caller($0) }
        }
    }

    @Test("A caller keeps the first answer")
    func once() async throws {
        let answer = try await Reply<Int>.awaiting { reply in
            let caller = Caller(reply)
            for number in 1...3 { caller.answer(.success(number)) }
        }
        #expect(answer == 1)
    }
}
