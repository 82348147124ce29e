import PostgreSQL
import Tasks

/// A read that waits or is under way, with all callers that share its answer, whatever its outcome is.
protocol QueuedRead: Sendable {
    var statement: Statement { get }
    /// When its first caller began to wait; monotonic nanoseconds.
    var since: UInt64 { get set }
    var retry: RetryPolicy { get set }
    /// How many share the answer.
    var callerCount: Int { get }
    /// Distinguishes the outcomes of equal statements, as ``limit`` does.
    var outcome: ObjectIdentifier { get }
    /// See ``ReadOperation/limit``.
    var limit: Int? { get }
    /// Lets the callers of an equal read share the answer; right only before the statement is sent.
    mutating func join(_ other: any QueuedRead)
    /// Answers by rows; the read that must follow before that, if one must.
    func receive(_ rows: borrowing Rows) -> (any QueuedRead)?
    func refuse(_ error: StoreError)
}

/// Callers that wait for the outcome of one operation.
struct Read<Outcome: Sendable>: QueuedRead {
    private let operation: ReadOperation<Outcome>
    private var callers: [Caller<Outcome>]
    var since: UInt64 = 0
    var retry = RetryPolicy()

    init(_ operation: ReadOperation<Outcome>, for callers: [Caller<Outcome>]) {
        self.operation = operation
        self.callers = callers
    }

    var statement: Statement { operation.statement }
    var callerCount: Int { callers.count }
    var outcome: ObjectIdentifier { ObjectIdentifier(Outcome.self) }
    var limit: Int? { operation.limit }

    mutating func join(_ other: any QueuedRead) {
        if let other = other as? Self { callers += other.callers }
    }

    func receive(_ rows: borrowing Rows) -> (any QueuedRead)? {
        let result: Result<Outcome, StoreError>
        do throws(StoreError) {
            switch try operation.decode(rows) {
            case .done(let outcome): result = .success(outcome)
            case .followedBy(let operation):
                var next = Read(operation, for: callers)
                (next.since, next.retry) = (since, retry)
                return next
            }
        } catch {
            result = .failure(error)
        }
        for caller in callers { caller.answer(result) }
        return nil
    }

    func refuse(_ error: StoreError) {
        for caller in callers { caller.answer(.failure(error)) }
    }
}
