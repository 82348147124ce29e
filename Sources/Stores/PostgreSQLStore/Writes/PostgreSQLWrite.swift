import PostgreSQL
import StoreEngine
import Tasks

/// A command or a check of the database, and the caller who waits for the outcome.
final class PostgreSQLWrite: JobWork {
    typealias Answer = @Sendable () -> Void

    enum Kind: Sendable {
        /// What the command reads, and what runs it.
        case command(CommandReads, @Sendable (inout PostgreSQLTransaction) throws(PostgreSQLError) -> Answer)
        case check(Answer)
    }

    let kind: Kind
    /// An addition that can share a statement with others, and what answers its caller.
    let addition: (command: AddTask, answer: @Sendable (TaskItem) -> Void)?

    init<Command: TaskCommand>(_ command: Command, _ reply: Reply<Command.Outcome>) {
        kind = Self.running(command, reply)
        addition = nil
    }

    init(adding command: AddTask, _ reply: Reply<AddOutcome>) {
        kind = Self.running(command, reply)
        addition = command.key == nil ? (command, { reply.answer(.success(.added($0))) }) : nil
    }

    init(checkFor reply: Reply<Void>) {
        kind = .check { reply.answer(.success(())) }
        addition = nil
    }

    private static func running<Command: TaskCommand>(_ command: Command, _ reply: Reply<Command.Outcome>) -> Kind {
        .command(command.reads) { transaction throws(PostgreSQLError) in
            let outcome = try command.run(on: &transaction)
            return { reply.answer(.success(outcome)) }
        }
    }
}
