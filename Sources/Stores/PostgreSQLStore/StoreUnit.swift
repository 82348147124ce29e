import PostgreSQL
import Tasks

/// Statements that go out together and end at one point of synchronization.
///
/// Only the driving thread touches it. Outcomes come in the order of sending; ``end()`` comes behind the last, or
/// ``lose(_:)`` if the connection is lost before.
protocol StoreUnit: AnyObject {
    /// Whether it is a transaction that writes.
    var isWriting: Bool { get }
    /// Whether it wrote, and what it wrote is kept.
    var isCommitted: Bool { get }
    /// How many callers wait for it.
    var callers: Int { get }
    /// The statements in their order.
    var calls: [UnitCall] { get }
    /// A statement did its work.
    func take(_ rows: borrowing Rows, ofCall index: Int)
    /// A statement failed; those behind it were not run.
    func fail(_ error: PostgreSQLError, atCall index: Int)
    /// All outcomes are there: tells the callers.
    func end() -> UnitEnd
    /// There will be no more outcomes.
    func lose(_ error: StoreError)
}

/// A statement of a unit.
enum UnitCall {
    /// Of the table of statements.
    case task(TaskCall)
    /// Of the transaction around them.
    case transaction(TransactionStatement, [Parameter])
}

/// What is to be done behind a unit.
struct UnitEnd {
    /// To be tried again.
    var reads: [ReadStep] = []
    var writes: [QueuedWrite] = []
    /// The transaction still stands open, failed.
    var mustRollBack = false
    /// How many callers were answered.
    var answered = 0
    /// What went wrong, if something did.
    var error: PostgreSQLError?
    /// It was committed.
    var isCommitted = false
    /// It was committed, and wrote: what only locks shows nothing of the room on a disk.
    var hasWritten = false
}
