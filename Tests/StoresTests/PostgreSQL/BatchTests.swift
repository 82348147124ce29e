import PostgreSQL
import StoreEngine
import Tasks
import Testing

@testable import PostgreSQLStore

@Suite("Statements that are sent to PostgreSQL together")
struct BatchTests {
    private let alice = Owner("alice")

    private func reads(_ count: Int) -> [Job] {
        (0..<count).map { _ in
            Job(of: alice, .find, PostgreSQLRead(BoundStatement(.find, of: alice)) { _ in nil }) {
                _ in
            }
        }
    }

    /// For each job whether it is tried again.
    private func tries(_ result: BatchResult, _ jobs: [Job]) -> [Bool?] {
        jobs.map { job in result.verdicts.first { $0.job === job }.map { !$0.verdict.isFinal } }
    }

    @Test(arguments: ["42501": false, "40001": true])
    func `Reads behind one that fails are sent again, and so is that one if others were in its way`(
        code: String, isPassing: Bool
    ) {
        let jobs = reads(3)
        var batch = ReadBatch(jobs)
        batch.fail(PostgreSQLError(sqlState: code, message: "x"), at: 0)
        #expect(tries(batch.result(), jobs) == [isPassing, true, true])
    }

    @Test func `Reads of a lost session that were not answered are refused`() {
        let jobs = reads(2)
        let result = ReadBatch(jobs).lost(PostgreSQLError(sqlState: nil, message: "x"))
        #expect(tries(result, jobs) == [false, false])
        #expect(result.loss != nil)
    }

    @Test func `The points of several owners are read by one statement, and by one for each after a failure`() {
        let find = reads(1)[0]
        let points = [alice, Owner("bob")].map { owner in
            Job(of: owner, .list, PostgreSQLRead(pointOf: owner) { _ in nil }) { _ in }
        }
        let jobs = [find] + points
        #expect(ReadBatch(jobs).statements.map(\.kind) == [.points, .find])
        #expect(ReadBatch(jobs, sharesStatements: false).statements.map(\.kind) == [.find, .listPoint, .listPoint])
        #expect(ReadBatch(Array(jobs.prefix(2))).statements.map(\.kind) == [.find, .listPoint])
        var batch = ReadBatch(jobs)
        batch.fail(PostgreSQLError(sqlState: "42501", message: "x"), at: 0)
        #expect(tries(batch.result(), jobs) == [true, true, true])
        let again = batch.result().verdicts.compactMap { if case .again(let job) = $0.verdict { job } else { nil } }
        #expect(ReadBatch(again).statements.map(\.kind) == [.listPoint, .listPoint, .find])
    }

    @Test func `A job of another database is left out, wherever it stands`() {
        let foreign = Job(of: alice, .find, NamedWork("x")) { _ in }
        let mine = reads(2)
        var batch = ReadBatch([foreign] + mine)
        batch.fail(PostgreSQLError(sqlState: "42501", message: "x"), at: 0)
        #expect(tries(batch.result(), [foreign] + mine) == [nil, false, true])
    }

    @Test func `The rows of owners are locked in the order of the owners, and an owner's writes keep their order`() {
        let jobs = ["carol", "alice", "bob", "alice"].map { Job(of: Owner($0), .write, NamedWork($0)) { _ in } }
        let order = WriteBatch.byOwner(jobs)
        #expect(order.map { $0.map(\.owner.identifier) } == [["alice", "alice"], ["bob"], ["carol"]])
        #expect(order[0][0] === jobs[1] && order[0][1] === jobs[3])
    }
}
