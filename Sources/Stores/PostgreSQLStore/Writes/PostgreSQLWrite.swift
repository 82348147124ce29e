import PostgreSQL
import StoreEngine
import Tasks

/// A command, and the caller who waits for the outcome.
final class PostgreSQLWrite: JobWork {
    let command: any PostgreSQLCommand
    /// What becomes of the write, by the answers of its statements in the transaction that was committed.
    let verdict: @Sendable (ArraySlice<Answer>, WriteContext) -> Verdict

    init(_ command: any PostgreSQLCommand, verdict: @escaping @Sendable (ArraySlice<Answer>, WriteContext) -> Verdict) {
        self.command = command
        self.verdict = verdict
    }

    convenience init<Command: PostgreSQLCommand>(_ command: Command, _ reply: Reply<Command.Outcome>) {
        self.init(command) { answers, context in
            do throws(StoreError) {
                let outcome = try command.outcome(of: answers, in: context)
                return .answer(command.effect(of: outcome)) { reply.answer(.success(outcome)) }
            } catch {
                return .refuse(error)
            }
        }
    }
}

/// What a transaction gives to all its commands.
struct WriteContext: Sendable {
    /// Whether a check of the database writes as an addition does.
    let isProbing: Bool
    /// The memory of the answers to lists of changes.
    let answerMemory: AnswerMemory
}
