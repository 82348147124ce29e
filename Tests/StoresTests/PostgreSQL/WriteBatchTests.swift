@testable import PostgreSQLStore
import PostgreSQL
import Support
import Tasks
import Testing

/// A write without a caller.
extension Write {
    init(_ command: Command) { self.init(command, for: Caller(nil)) }

    static func removal(_ id: Int64, expected: Set<Int64>? = nil, of owner: Owner) -> Write {
        Write(.remove(RemoveTask(owner: owner, id: id, expected: expected)))
    }

    static func addition(
        _ text: String, limit: Int = 10, key: IdempotencyKey? = nil, of owner: Owner
    ) throws -> Write {
        let task = AddTask(owner: owner, text: try TaskText(text), completed: false, time: 5, key: key, limit: limit)
        return Write(.add(task))
    }

    /// As after this many failed tries.
    func tried(_ times: Int) -> Write {
        var write = self
        for _ in 0..<times { write.retry = write.retry.nextTry ?? write.retry }
        return write
    }

    func with(_ retry: RetryPolicy) -> Write {
        var write = self
        write.retry = retry
        return write
    }
}

extension Statement {
    /// Which one, and of whom.
    var label: String {
        switch text {
        case .task(let statement): "\(statement) \(owner?.identifier ?? "")"
        case .transaction(let statement): "\(statement)"
        }
    }
}

@Suite("A batch of writes", .timeLimit(.minutes(15)))
struct WriteBatchTests {
    private let alice = Owner("alice")
    private let bob = Owner("bob")

    private func batch(_ writes: [Write], isProbing: Bool = false, withRoom: [Write] = []) -> WriteBatch {
        var owners = OwnersWithRoom()
        for write in withRoom { owners.insert(hash: write.ownerHash) }
        return WriteBatch(writes, deadlineMilliseconds: 1000, isProbing: isProbing, ownersWithRoom: owners)
    }

    /// What becomes of writes whose statements, of any owner, give these answers and are committed.
    private func result(_ writes: [Write], _ answers: [Answer], isProbing: Bool = false) -> BatchResult {
        var batch = batch(writes, isProbing: isProbing)
        for answer in [.nothing, .nothing] + answers + [.ended(isCommitted: true)] { batch.receive(answer) }
        return batch.result()
    }

    /// What becomes of writes whose transaction fails at a statement counted from the end.
    private func result(_ writes: [Write], failingWith code: String?, atStatementFromTheEnd place: Int) -> BatchResult {
        var batch = batch(writes)
        batch.fail(PostgreSQLError(sqlState: code, message: "x"), at: batch.statements.count - place)
        return batch.result()
    }

    private func retries(_ result: BatchResult) -> [RetryPolicy] {
        result.verdicts.compactMap { if case .retry(let retry) = $0 { retry } else { nil } }
    }

    @Test("Where nothing is set, the details of additions are three times NULL, also of many", arguments: [1, 3])
    func detailsOfAdditions(count: Int) throws {
        let bare = try (0..<count).map { try Write.addition("\($0)", of: alice) }
        let isNull = { (parameter: Parameter) in
            switch parameter {
            case .text(nil), .real(nil), .optionalTexts(nil), .optionalReals(nil): true
            default: false
            }
        }
        func lastThree(_ writes: [Write]) throws -> ArraySlice<Parameter> {
            try #require(batch(writes, withRoom: writes).statements.dropLast().last).parameters.suffix(3)
        }
        #expect(try lastThree(bare).allSatisfy(isNull))
        let task = AddTask(
            owner: alice, text: try TaskText("x"), completed: false, details: try .example, time: 5, key: nil, limit: 10
        )
        #expect(try !lastThree(bare.dropLast() + [Write(.add(task))]).contains(where: isNull))
    }

    @Test("The transaction's own statements are SQL, which every session of a pool knows")
    func unnamed() {
        #expect(TransactionStatement.allCases.filter { $0.preparedName != nil } == [.guarantee])
    }

    @Test("Owners come in the order of their names, additions first, and a row is locked before the rest")
    func order() throws {
        let key = IdempotencyKey(key: "k", fingerprint: 7)
        let writes = [
            Write.removal(1, of: bob), try .addition("x", of: bob), try .addition("y", of: bob),
            try .addition("z", key: key, of: alice), .removal(2, of: alice),
        ]
        #expect(
            batch(writes).statements.map(\.label) == [
                "begin", "guarantee", "makeOwner alice", "lockOwner alice", "forgetAttempts alice", "addOnce alice",
                "remove alice", "add bob", "lockOwner bob", "remove bob", "commit",
            ])
    }

    @Test("One addition takes the cheap statement where the owner had room, and the one that makes the row elsewhere")
    func cheapAddition() throws {
        let write = try Write.addition("x", of: alice)
        #expect(batch([write], withRoom: [write]).statements[2].text == .task(.addOne))
        #expect(batch([write]).statements[2].text == .task(.add))
        let again = write.with(write.retry.afterEmptyUpdate)
        #expect(batch([again], withRoom: [write]).statements[2].text == .task(.add))
    }

    @Test("Additions that share a statement get ids in their order")
    func identifiers() throws {
        let writes = [try Write.addition("x", of: alice), try .addition("y", of: alice)]
        let result = result(writes, [.number(7)])
        let ids = result.verdicts.map { (verdict) -> Int64 in
            if case .answer(.addition(.added(let item))) = verdict { item.id } else { 0 }
        }
        #expect(ids == [7, 8])
        #expect(result.isCommitted && result.hasWritten)
    }

    @Test("Additions without room for all get a statement each, and one without room is answered")
    func noRoom() throws {
        let writes = [try Write.addition("x", of: alice), try .addition("y", of: alice)]
        let shared = result(writes, [.number(0)])
        #expect(retries(shared).map(\.isSplit) == [true, true])
        #expect(!shared.hasWritten)
        let split = zip(shared.writes, retries(shared)).map { $0.with($1) }
        #expect(batch(split).statements.count == 5)
        let ids = result(split, [.number(9), .number(0)]).verdicts
        guard case .answer(.addition(.added(let item))) = ids[0] else {
            Issue.record("\(ids)")
            return
        }
        #expect(item.id == 9)
        #expect(ids[1] == .answer(.addition(.full)))
    }

    @Test("An owner without a row and without a limit above zero is full, not tried again")
    func noLimit() throws {
        let write = try Write.addition("x", limit: 0, of: alice)
        #expect(result([write], [.nothing]).verdicts == [.answer(.addition(.full))])
    }

    @Test("An addition that finds no row is tried again, at most ten times")
    func race() throws {
        let write = try Write.addition("x", of: alice)
        #expect(retries(result([write], [.nothing])).map(\.tries) == [1])
        guard case .refuse(.unavailable) = result([write.tried(10)], [.nothing]).verdicts.first else {
            Issue.record("tried again")
            return
        }
    }

    @Test("The cheap addition that finds no row with room is followed by the certain one")
    func emptyUpdate() throws {
        let write = try Write.addition("x", of: alice)
        var batch = batch([write], withRoom: [write])
        for answer: Answer in [.nothing, .nothing, .nothing, .ended(isCommitted: true)] { batch.receive(answer) }
        #expect(retries(batch.result()).map(\.hadEmptyUpdate) == [true])
    }

    @Test("An idempotency key's answer distinguishes added, repeated and reused")
    func keyed() throws {
        let key = IdempotencyKey(key: "k", fingerprint: 7)
        let item = TaskItem(id: 3, owner: alice, text: try TaskText("x"), completed: false, created: 5, modified: 5)
        let write = try Write.addition("x", key: key, of: alice)
        let cases: [(Answer, AddOutcome)] = [
            (.attempt(isNew: true, fingerprint: 7, item), .added(item)),
            (.attempt(isNew: false, fingerprint: 7, item), .repeated(item)),
            (.attempt(isNew: false, fingerprint: 8, item), .keyReused), (.nothing, .full),
        ]
        for (answer, outcome) in cases {
            let result = result([write], [.nothing, .nothing, .nothing, answer])
            #expect(result.verdicts == [.answer(.addition(outcome))])
        }
    }

    @Test("The outcome of a change that did nothing follows from the task before it")
    func change() throws {
        let item = TaskItem(
            id: 3, owner: alice, text: try TaskText("x"), completed: false, created: 5, modified: 5, revision: 2)
        func outcome(_ answers: [Answer], expected: Set<Int64>?) -> [Write.Verdict] {
            let change = ChangeTask(
                owner: alice, id: 3, change: TaskChange(completed: true), expected: expected, time: 9)
            return result([Write(.change(change))], [.nothing] + answers).verdicts
        }
        #expect(outcome([.nothing, .nothing], expected: nil) == [.answer(.change(.missing))])
        #expect(outcome([.task(item), .task(item)], expected: [2]) == [.answer(.change(.changed(item)))])
        #expect(outcome([.task(item), .nothing], expected: [2]) == [.answer(.change(.changed(item)))])
        #expect(outcome([.task(item), .nothing], expected: [1]) == [.answer(.change(.conflict(item)))])
    }

    @Test("A list of changes locks its tasks before it changes them, and its outcome follows from both answers")
    func changes() throws {
        let text = try TaskText("x")
        let items = (Int64(1)...3).map {
            TaskItem(id: $0, owner: alice, text: text, completed: true, created: 5, modified: 9, revision: $0)
        }
        let changes = [(3, 2), (1, nil), (2, nil)].map {
            IdentifiedChange(id: $0.0, change: TaskChange(completed: true), expected: $0.1)
        }
        let write = Write(.changeAll(ChangeTasks(owner: alice, changes: changes, time: 9)))
        #expect(
            batch([write, .removal(1, of: alice)]).statements.map(\.label) == [
                "begin", "guarantee", "lockOwner alice", "lockTasks alice", "changeAll alice", "remove alice", "commit",
            ])
        func outcome(_ before: Answer, _ after: Answer) -> Write.Verdict? {
            result([write], [.nothing, before, after]).verdicts.first
        }
        let made = Answer.tasks(items)
        #expect(
            outcome(.revisions([1: 7, 2: 8, 3: 2]), made)
                == .answer(.changes(.changed(TaskList(rendering: [items[2], items[0], items[1]])))))
        #expect(outcome(.revisions([1: 7, 2: 8, 3: 2]), .number(3)) == .answer(.changes(.changed(nil))))
        #expect(outcome(.revisions([1: 7, 3: 9]), .nothing) == .answer(.changes(.missing([2]))))
        #expect(outcome(.nothing, .nothing) == .answer(.changes(.missing([3, 1, 2]))))
        #expect(outcome(.revisions([1: 7, 2: 8, 3: 9]), .nothing) == .answer(.changes(.conflict([3]))))
        for wrong in [Answer.nothing, .number(2), .tasks(Array(items.dropLast()))] {
            guard case .refuse(.broken) = outcome(.revisions([1: 7, 2: 8, 3: 2]), wrong) else {
                Issue.record("a part of the list was answered as the whole")
                return
            }
        }
    }

    @Test("A task is removed under a condition only in a state that the client expects")
    func conditionalRemoval() throws {
        let item = TaskItem(
            id: 1, owner: alice, text: try TaskText("x"), completed: false, created: 5, modified: 9, revision: 2)
        let write = Write.removal(1, expected: [2], of: alice)
        #expect(
            batch([write]).statements.map(\.label)
                == ["begin", "guarantee", "lockOwner alice", "lockTask alice", "remove alice", "commit"])
        func outcome(_ write: Write, _ before: Answer, _ after: Answer) -> Write.Verdict? {
            result([write], [.nothing, before, after]).verdicts.first
        }
        #expect(outcome(write, .task(item), .number(1)) == .answer(.removal(.removed)))
        #expect(outcome(write, .nothing, .number(0)) == .answer(.removal(.missing)))
        #expect(outcome(.removal(1, expected: [1], of: alice), .task(item), .number(0)) == .answer(.removal(.conflict)))
    }

    @Test("A row that no task-server wrote is refused to its caller only")
    func unreadable() {
        let writes = [Write.removal(1, of: alice), .removal(2, of: bob)]
        let error = StoreError.broken(reason: "x")
        let verdicts = result(writes, [.nothing, .unreadable(error), .nothing, .number(1)]).verdicts
        #expect(verdicts == [.refuse(error), .answer(.removal(.removed))])
    }

    @Test("A check counts as written only where it wrote")
    func checks() {
        #expect(!result([Write(.check)], [.nothing]).hasWritten)
        #expect(result([Write(.check)], [.nothing, .number(1)], isProbing: true).hasWritten)
    }

    @Test("A COMMIT that met another transaction has ended it, and its writes are tried again")
    func serialization() {
        let result = result([.removal(1, of: alice)], failingWith: "40001", atStatementFromTheEnd: 1)
        #expect(retries(result).count == 1 && !result.mustRollBack)
    }

    @Test(
        "A COMMIT that failed otherwise is in doubt, and its writes are not tried again",
        arguments: ["57014", "XX000", "53100"])
    func doubt(code: String) {
        let writes = [Write.removal(1, of: alice), .removal(1, of: bob)]
        let result = result(writes, failingWith: code, atStatementFromTheEnd: 1)
        #expect(retries(result).isEmpty && result.verdicts.count == 2 && !result.mustRollBack)
    }

    @Test("A COMMIT that the server answered with ROLLBACK, or not at all, is refused as unavailable")
    func unconfirmed() {
        var batch = batch([.removal(1, of: alice)])
        for answer: Answer in [.nothing, .nothing, .nothing, .number(1)] { batch.receive(answer) }
        let lost = StoreError.unavailable(reason: "lost")
        #expect(batch.lost(lost).verdicts == [.refuse(lost)])
        batch.receive(.ended(isCommitted: false))
        #expect(batch.result().verdicts == [.refuse(.unavailable(reason: "a commit was not confirmed"))])
    }

    @Test("A session that is lost after the COMMIT takes no answer with it, but nothing is tried again")
    func lostAfterCommit() throws {
        var batch = batch([try .addition("x", of: bob), .removal(1, of: alice)])
        for answer: Answer in [.nothing, .nothing, .nothing, .number(1), .nothing, .ended(isCommitted: true)] {
            batch.receive(answer)
        }
        let lost = StoreError.unavailable(reason: "lost")
        #expect(batch.lost(lost).verdicts == [.answer(.removal(.removed)), .refuse(lost)])
    }

    @Test("A write that was in the way of others too often is refused, those that share its transaction are not")
    func tries() {
        let writes = [10, 0, 3].map { Write.removal(1, of: alice).tried($0) }
        let result = result(writes, failingWith: "40001", atStatementFromTheEnd: 2)
        #expect(retries(result).map(\.tries) == [1, 4])
        guard case .refuse = result.verdicts.first else {
            Issue.record("\(result.verdicts)")
            return
        }
    }

    @Test(
        "A write that finds no room or no right takes no other with it",
        arguments: ["53100", "42501", "57014", "22021"])
    func blame(code: String) {
        let write = Write.removal(1, of: alice)
        let shared = result([write, write], failingWith: code, atStatementFromTheEnd: 2)
        #expect(retries(shared).map(\.scope) == [.alone, .alone])
        #expect(retries(result([write], failingWith: code, atStatementFromTheEnd: 2)).isEmpty)
    }

    @Test("A locked row lets the writes of other owners continue without it")
    func lock() {
        let writes = [Write.removal(1, of: alice), Write.removal(1, of: alice).tried(10)]
        #expect(retries(result(writes, failingWith: "55P03", atStatementFromTheEnd: 3)).map(\.scope) == [.sameOwner])
    }

    @Test("A transaction that failed before its COMMIT is rolled back")
    func early() {
        for (code, isTriedAgain) in [("26000", true), ("40P01", true), ("53100", false), ("57014", false)] {
            let result = result([.removal(1, of: alice)], failingWith: code, atStatementFromTheEnd: 2)
            #expect(result.mustRollBack && retries(result).isEmpty != isTriedAgain, "\(code)")
        }
    }
}
