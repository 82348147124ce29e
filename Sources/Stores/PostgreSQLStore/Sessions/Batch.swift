import PostgreSQL
import Tasks

/// Statements that go out together and end at one point of synchronization.
///
/// Outcomes come in the order of sending. After the last comes ``result()``, or ``lost(_:)`` if the session is lost before.
protocol Batch {
    var statements: [Statement] { get }
    /// A statement did its work.
    mutating func receive(_ rows: borrowing Rows, at index: Int)
    /// A statement failed; those after it were not run.
    mutating func fail(_ error: PostgreSQLError, at index: Int)
    func result() -> BatchResult
    /// There will be no more outcomes.
    func lost(_ error: StoreError) -> BatchResult
}

/// What is to be done after a batch.
struct BatchResult {
    var writes: [any QueuedWrite] = []
    /// What becomes of each of the writes.
    var verdicts: [WriteVerdict] = []
    /// Reads to be sent again.
    var reads: [any QueuedRead] = []
    /// How many callers of reads have their answers.
    var answeredReads = 0
    /// Those of them that were given a list.
    var lists = 0
    /// The transaction has failed and is still open.
    var mustRollBack = false
    var isCommitted = false
    /// It was committed, and wrote: a transaction that only locks rows does not show whether the disk has room.
    var hasWritten = false
    /// More is to be pruned.
    var hasMore = false
    /// What went wrong, if something did.
    var error: PostgreSQLError?
}
