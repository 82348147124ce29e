import Platform
import PostgreSQL
import Tasks

/// A read that waits or is under way, and the caller that waits for its outcome, whatever the outcome is.
protocol QueuedRead: Sendable {
    var statement: Statement { get }
    /// When its caller began to wait; monotonic nanoseconds.
    var since: UInt64 { get }
    var retry: RetryPolicy { get set }
    /// Answers by rows; the read that must follow before that, if one must.
    func receive(_ rows: borrowing Rows) -> (any QueuedRead)?
    func refuse(_ error: StoreError)
}

/// A caller that waits for the outcome of an operation.
struct Read<Outcome: Sendable>: QueuedRead {
    private let operation: ReadOperation<Outcome>
    private let reply: Reply<Outcome>
    let since: UInt64
    var retry = RetryPolicy()

    init(
        _ operation: ReadOperation<Outcome>, _ reply: Reply<Outcome>,
        since: UInt64 = SystemTime().monotonicNanoseconds
    ) {
        self.operation = operation
        self.reply = reply
        self.since = since
    }

    var statement: Statement { operation.statement }

    func receive(_ rows: borrowing Rows) -> (any QueuedRead)? {
        let result: Result<Outcome, StoreError>
        do throws(StoreError) {
            switch try operation.decode(rows) {
            case .done(let outcome): result = .success(outcome)
            case .followedBy(let operation):
                var next = Read(operation, reply, since: since)
                next.retry = retry
                return next
            }
        } catch {
            result = .failure(error)
        }
        reply.answer(result)
        return nil
    }

    func refuse(_ error: StoreError) {
        reply.answer(.failure(error))
    }
}
