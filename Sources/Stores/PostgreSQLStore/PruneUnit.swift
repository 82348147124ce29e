import PostgreSQL
import Tasks

/// Forgets idempotency keys that are too old, of people who may never come again: one statement, its own transaction.
final class PruneUnit: StoreUnit {
    /// How many at most, so that those that read on the same session wait for milliseconds.
    private static let most = 1000

    /// It uses a session for reading: no write waits for it.
    let isWriting = false
    let isCommitted = false
    let callers = 0
    let calls: [UnitCall]
    private var count = 0
    private var error: PostgreSQLError?

    /// Of this time, in milliseconds since 1970.
    init(at time: Int64) {
        calls = [
            .transaction(.prune, [.integer(time - IdempotencyKey.lifetime), .integer(Int64(Self.most))])
        ]
    }

    /// Whether there may be more.
    var mustGoOn: Bool { count == Self.most }

    func take(_ rows: borrowing Rows, ofCall index: Int) { count = rows.count }

    func fail(_ error: PostgreSQLError, atCall index: Int) { self.error = error }

    /// A failure concerns no caller, and is tried again later; only a session without its prepared statements is to be known.
    func end() -> UnitEnd {
        var end = UnitEnd()
        if error?.kind == .unprepared { end.error = error }
        return end
    }

    func lose(_ error: StoreError) {}
}
