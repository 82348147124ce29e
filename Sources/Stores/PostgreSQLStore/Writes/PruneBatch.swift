import PostgreSQL
import Tasks

/// Forgets idempotency keys that are too old, also of owners who never come again: one statement, its own transaction.
struct PruneBatch: Batch {
    /// How many at most, so that those that read on the same session wait for milliseconds.
    static let most = 1000

    let statements: [Statement]
    private var count = 0
    private var error: PostgreSQLError?

    /// Of this time, in milliseconds since 1970.
    init(at time: Int64) {
        statements = [
            Statement(.prune, [.integer(time - IdempotencyKey.lifetime), .integer(Int64(Self.most))])
        ]
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) { count = rows.count }

    mutating func fail(_ error: PostgreSQLError, at index: Int) { self.error = error }

    /// A failure concerns no caller, and is tried again later; only a session without its prepared statements is reported.
    func result() -> BatchResult {
        var result = BatchResult()
        result.hasMore = count == Self.most
        if error?.kind == .unprepared { result.error = error }
        return result
    }

    func lost(_ error: StoreError) -> BatchResult { BatchResult() }
}
