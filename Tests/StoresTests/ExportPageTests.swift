@testable import TaskArchive
import Tasks
import Testing

@Suite("A page of an export", .timeLimit(.minutes(15)))
struct ExportPageTests {
    private func page(tasks: Int64, next: Int64) throws -> ExportPage {
        let counts = try OwnerCounts(storedNext: next, tasks: tasks)
        return ExportPage((0..<500).map { .init(owner: Owner("\(1000 + $0)"), counts: counts) })
    }

    @Test func `A page has few owners who may have many idempotency keys, and many who cannot`() throws {
        #expect(try page(tasks: 0, next: 5000).owners.count == 3)
        #expect(try page(tasks: 20, next: 5000).owners.count == 2)
        #expect(try page(tasks: 0, next: 1).owners.count == 500)
        #expect(try page(tasks: 10_000, next: 10_001).owners.count == 1)
    }
}
