@testable import PostgreSQLStore
import PostgreSQL
import Tasks
import Testing

@Suite("A transaction of a PostgreSQL store")
struct WriteUnitTests {
    /// What becomes of one removal whose transaction fails at a statement counted from the end.
    private func end(failingWith code: String?, atCallFromTheEnd place: Int) async throws -> UnitEnd {
        var end = UnitEnd()
        let result: Result<Bool, StoreError>
        do throws(StoreError) {
            result = .success(
                try await Reply<Bool>.awaiting { reply in
                    let write = QueuedWrite(request: .remove(1, Owner("alice"), reply), since: 0)
                    let unit = WriteUnit([write], deadlineMilliseconds: 1000)
                    unit.fail(PostgreSQLError(sqlState: code, message: "x"), atCall: unit.calls.count - place)
                    end = unit.end()
                    if !end.writes.isEmpty { reply.answer(.success(true)) }
                })
        } catch {
            result = .failure(error)
        }
        #expect((try? result.get()) == (end.writes.isEmpty ? nil : true))
        return end
    }

    @Test("begins, ends and is undone by words, which every session of a pool knows")
    func words() {
        #expect(TransactionStatement.allCases.filter { $0.preparedName != nil } == [.guarantee])
    }

    @Test("whose COMMIT met another transaction has ended, and is tried again")
    func serialization() async throws {
        let end = try await end(failingWith: "40001", atCallFromTheEnd: 1)
        #expect(end.writes.count == 1 && !end.mustRollBack)
    }

    @Test("whose COMMIT failed otherwise is in doubt, and is not tried again", arguments: ["57014", "XX000", "53100"])
    func doubt(code: String) async throws {
        let end = try await end(failingWith: code, atCallFromTheEnd: 1)
        #expect(end.writes.isEmpty && !end.mustRollBack && end.answered == 1)
    }

    /// How those of a transaction that fails are tried again, and how many are refused, by how often they were tried.
    private func retries(of tries: [Int], failingWith code: String) async throws -> [QueuedWrite] {
        var again: [QueuedWrite] = []
        try await withReplies(tries.count) { (replies: [Reply<Bool>]) in
            let writes = zip(replies, tries).enumerated().map { number, place in
                var write = QueuedWrite(request: .remove(Int64(number), Owner("alice"), place.0), since: 0)
                write.tries = place.1
                return write
            }
            let unit = WriteUnit(writes, deadlineMilliseconds: 1000)
            unit.fail(PostgreSQLError(sqlState: code, message: "x"), atCall: 2)
            let end = unit.end()
            again = end.writes
            #expect(end.answered + again.count == tries.count)
            for write in again { write.request.refuse(.overloaded) }
        }
        return again
    }

    @Test("that was in the way of others too often is refused, those that share it are not")
    func tries() async throws {
        #expect(try await retries(of: [10, 0, 3], failingWith: "40001").map(\.tries) == [1, 4])
    }

    @Test("that finds no room or no right takes no other with it", arguments: ["53100", "42501", "57014", "22021"])
    func blame(code: String) async throws {
        #expect(try await retries(of: [0, 0], failingWith: code).map(\.company) == [.nobody, .nobody])
        #expect(try await retries(of: [0], failingWith: code).isEmpty)
    }

    @Test("that meets a locked row lets the others go on without it")
    func lock() async throws {
        #expect(try await retries(of: [0, 10], failingWith: "55P03").map(\.company) == [.sameOwner])
    }

    @Test("that failed before its COMMIT is rolled back")
    func early() async throws {
        for (code, isTriedAgain) in [("26000", true), ("40P01", true), ("53100", false), ("57014", false)] {
            let end = try await end(failingWith: code, atCallFromTheEnd: 2)
            #expect(end.mustRollBack && !end.writes.isEmpty == isTriedAgain, "\(code)")
        }
    }
}
