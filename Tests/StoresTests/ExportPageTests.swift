@testable import TaskArchive
import Tasks
import Testing

@Suite("A page of an export", .timeLimit(.minutes(15)))
struct ExportPageTests {
    private func page(tasks: Int64, next: Int64) -> ExportPage {
        ExportPage((0..<500).map { .init(name: "\(1000 + $0)", next: next, tasks: tasks) })
    }

    @Test("A page has few owners who may have many idempotency keys, and many who cannot")
    func keys() {
        #expect(page(tasks: 0, next: 5000).owners.count == 3)
        #expect(page(tasks: 20, next: 5000).owners.count == 2)
        #expect(page(tasks: 0, next: 1).owners.count == 500)
        #expect(page(tasks: 10_000, next: 10_001).owners.count == 1)
    }
}
