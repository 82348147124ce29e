@testable import PostgreSQLStore
import PostgreSQL
import Tasks
import Testing

@Suite("What a PostgreSQL store reports of failures", .timeLimit(.minutes(15)))
struct FailureReportsTests {
    private func error(_ code: String?) -> PostgreSQLError { PostgreSQLError(sqlState: code, message: "x") }

    @Test("A failed write is reported once for a reason, until something was written")
    func writes() {
        var reports = FailureReports()
        #expect(reports.written() == nil)
        #expect(reports.failed(error("53100")) == .diskFull(reason: "x (SQLSTATE 53100)"))
        #expect(reports.failed(error("53100")) == nil)
        #expect(reports.failed(error("25006")) == .commitFailed(reason: "x (SQLSTATE 25006)"))
        #expect(!reports.isHealthy)
        #expect(reports.written() == .recovered)
        #expect(reports.written() == nil)
        #expect(reports.failed(error("25006")) != nil)
    }

    @Test("A lost session is reported once for a reason, until all are there again")
    func sessions() {
        var reports = FailureReports()
        #expect(reports.connected(isFirst: true, isLast: false) == .connected)
        #expect(reports.lost("gone") == .connectionLost(reason: "gone"))
        #expect(reports.lost("gone") == nil)
        #expect(reports.lastFailure == "gone")
        #expect(reports.connected(isFirst: false, isLast: false) == nil)
        #expect(reports.lost("gone") == nil)
        #expect(reports.connected(isFirst: false, isLast: true) == nil)
        #expect(reports.lost("gone") != nil)
    }
}

@Suite("The hint that an owner has room", .timeLimit(.minutes(15)))
struct OwnersWithRoomTests {
    @Test("A hint is given, taken back, and shared by owners whose hashes share a bit")
    func bits() {
        var owners = OwnersWithRoom(bits: 128)
        for hash in [0, 1, 63, 64, 127, -1, .min, .max] {
            #expect(!owners.contains(hash: hash))
            owners.insert(hash: hash)
            #expect(
                owners.contains(hash: hash)
                    && owners.contains(hash: Int(truncatingIfNeeded: UInt(bitPattern: hash) % 128)))
            owners.remove(hash: hash)
            #expect(!owners.contains(hash: hash))
        }
    }
}
