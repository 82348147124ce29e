import Platform
import Tasks

/// A write that waits for its transaction, and the caller that waits for its outcome, whatever the outcome is.
protocol QueuedWrite: Sendable {
    var owner: Owner { get }
    /// See ``PostgreSQLCommand/weight``.
    var weight: Int { get }
    /// When its caller began to wait; monotonic nanoseconds.
    var since: UInt64 { get }
    var retry: RetryPolicy { get set }
    /// See ``PostgreSQLCommand/locksOwner``.
    var locksOwner: Bool { get }
    func statements(in context: WriteContext) -> [Statement]
    /// See ``PostgreSQLCommand/writes(in:)``.
    func writes(in context: WriteContext) -> Bool
    /// What becomes of the write, by the answers of its statements in the transaction that was committed.
    func verdict(_ answers: ArraySlice<Answer>, in context: WriteContext) -> WriteVerdict
    func refuse(_ error: StoreError)
}

/// What a transaction gives to all its commands.
struct WriteContext: Sendable {
    /// A check of the database writes as an addition does.
    var isProbing = false
    /// The memory of the answers to lists of changes.
    var answers = AnswerMemory()
}

/// What becomes of a write after its transaction.
enum WriteVerdict {
    /// The closure answers the caller.
    case answer(() -> Void)
    case refuse(StoreError)
    case retry(RetryPolicy)

    var isRetry: Bool { if case .retry = self { true } else { false } }
}

struct Write<Command: PostgreSQLCommand>: QueuedWrite {
    let command: Command
    let since = SystemTime().monotonicNanoseconds
    var retry = RetryPolicy()
    /// Nil in tests, in which no one waits.
    private let reply: Reply<Command.Outcome>?

    init(_ command: Command, _ reply: Reply<Command.Outcome>?) {
        self.command = command
        self.reply = reply
    }

    var owner: Owner { command.owner }
    var weight: Int { command.weight }
    var locksOwner: Bool { command.locksOwner }

    func statements(in context: WriteContext) -> [Statement] { command.statements(in: context) }

    func writes(in context: WriteContext) -> Bool { command.writes(in: context) }

    func verdict(_ answers: ArraySlice<Answer>, in context: WriteContext) -> WriteVerdict {
        do throws(StoreError) {
            return answer(try command.outcome(of: answers, in: context))
        } catch {
            return .refuse(error)
        }
    }

    func answer(_ outcome: Command.Outcome) -> WriteVerdict {
        .answer { [reply] in reply?.answer(.success(outcome)) }
    }

    func refuse(_ error: StoreError) { reply?.answer(.failure(error)) }
}
