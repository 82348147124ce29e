import PostgreSQL
import StoreEngine
import Tasks

/// Writes that share a transaction and its commit.
///
/// Owners come in the order of their names, and their rows in `owners` are locked first, so that transactions of many
/// servers cause no deadlock. The first round trip locks and reads, the commands run, and the second one writes and
/// commits. Additions without idempotency keys need one round trip only, except with Citus.
struct WriteBatch {
    private var owners: [OwnerWrites]
    private let jobs: [Job]
    private let session: PostgreSQLSession
    private var isCommitted = false

    init(_ jobs: [Job], on session: PostgreSQLSession) {
        self.jobs = jobs
        self.session = session
        owners = Self.byOwner(jobs).map { OwnerWrites($0, on: session) }
    }

    /// The jobs of each owner, in the order in which owners are locked.
    static func byOwner(_ jobs: [Job]) -> [[Job]] {
        guard jobs.count > 1 else { return [jobs] }
        return Dictionary(grouping: jobs, by: \.owner).values.sorted { $0[0].owner < $1[0].owner }
    }

    /// Runs the transaction; throws if the session is lost.
    mutating func run(deadlineMilliseconds: Int) throws(PostgreSQLError) -> BatchResult {
        var places: [Int?] = [nil, nil]
        var statements = [
            BoundStatement(.begin), BoundStatement(.transactionSettings, [.text(String(deadlineMilliseconds))]),
        ]
        for owner in owners.indices {
            let first = owners[owner].first
            statements += first
            places += first.map { _ in owner }
        }
        let isOver = !owners.contains { $0.mustRun }
        if isOver { statements.append(BoundStatement(.commit)) }
        let failure = try session.exchange(statements) { index, rows in
            let kind = statements[index].kind
            if index < places.count, let owner = places[index] {
                owners[owner].receive(rows, of: kind)
            } else {
                noteEnd(kind, rows)
            }
        }
        if let failure { return failed(failure.error, isCommit: statements[failure.index].kind == .commit) }
        return isOver ? result() : try runCommands()
    }

    private mutating func runCommands() throws(PostgreSQLError) -> BatchResult {
        do throws(PostgreSQLError) {
            for owner in owners.indices { try owners[owner].run() }
        } catch {
            if let loss = session.loss { throw loss }
            return failed(error, isCommit: false)
        }
        var statements: [BoundStatement] = []
        for owner in owners.indices { statements += owners[owner].takeWrites() }
        statements.append(BoundStatement(.commit))
        let failure = try session.exchange(statements) { index, rows in noteEnd(statements[index].kind, rows) }
        if let failure { return failed(failure.error, isCommit: statements[failure.index].kind == .commit) }
        return result()
    }

    /// Notes that the transaction was committed, if the answer says so: a server may answer a COMMIT with ROLLBACK.
    private mutating func noteEnd(_ kind: TaskStatement, _ rows: borrowing Rows) {
        if kind == .commit, rows.command == "COMMIT" { isCommitted = true }
    }

    private func result() -> BatchResult {
        guard isCommitted else { return refused(.unavailable(reason: "a commit was not confirmed")) }
        var result = BatchResult([])
        for owner in owners { owner.note(in: &result) }
        result.transaction = .committed
        return result
    }

    func lost(_ loss: PostgreSQLError) -> BatchResult {
        let result = isCommitted ? result() : refused(.unavailable(reason: loss.description))
        return result.lost(SessionLoss(loss.description))
    }

    private func failed(_ error: PostgreSQLError, isCommit: Bool) -> BatchResult {
        var result = BatchResult(
            failed: jobs, error.batchFailure(isCommit: isCommit), StoreError(error), error.report)
        // A COMMIT that failed has ended the transaction.
        guard !isCommit else { return result }
        do throws(PostgreSQLError) {
            _ = try session.exchange([BoundStatement(.rollBack)]) { _, _ in }
        } catch {
            result.loss = SessionLoss(error.description)
        }
        return result
    }

    private func refused(_ error: StoreError) -> BatchResult {
        var result = BatchResult(jobs) { _ in .refuse(error) }
        result.transaction = .failed
        return result
    }
}

/// The writes of one owner in a batch: additions that share a statement come first, then the others as they came.
private struct OwnerWrites {
    private typealias Addition = (job: Job, command: AddTask, answer: @Sendable (TaskItem) -> Void)
    private typealias Command = (job: Job, run: PostgreSQLWrite.Run)

    /// The statements of the first round trip.
    private(set) var first: [BoundStatement] = []
    private let owner: Owner
    private let session: PostgreSQLSession
    private var additions: [Addition] = []
    /// The id and the change number of the first addition.
    private var firstAdded: (id: Int64, change: Int64)?
    private var commands: [Command] = []
    /// The statements that read for the commands, and make the owner's row first if they need one.
    private var reading: [BoundStatement] = []
    private var transaction: PostgreSQLTransaction
    private var answers: [PostgreSQLWrite.Answer] = []

    init(_ jobs: [Job], on session: PostgreSQLSession) {
        owner = jobs[0].owner
        self.session = session
        transaction = PostgreSQLTransaction(of: owner, on: session)
        var reads: [CommandReads] = []
        // With Citus the tasks come after the first round trip, in which a command would miss them.
        let mayShare = !session.isDistributed || jobs.allSatisfy { ($0.work as? PostgreSQLWrite)?.addition != nil }
        for job in jobs {
            guard let write = job.work as? PostgreSQLWrite else { continue }
            if let (command, answer) = write.addition, !job.retry.isAlone, mayShare {
                additions.append((job, command, answer))
            } else {
                commands.append((job, write.run))
                if let read = write.reads { reads.append(read) }
            }
        }
        if !additions.isEmpty { first.append(adding(additions.map(\.command))) }
        // With Citus, a lost server takes only its own owners away, so there a check locks nothing.
        if !commands.isEmpty, !reads.isEmpty || !session.isDistributed {
            reading = transaction.lockingStatements(for: reads)
        }
        // Citus plans and sends each statement by itself, so there the row is made once it is known to be missing.
        first += reading.filter { $0.kind != .makeOwner || !session.isDistributed }
    }

    /// Adds the tasks; with Citus, which would send that to all servers, takes their ids only.
    private func adding(_ commands: [AddTask]) -> BoundStatement {
        let taken: [Parameter] = [
            .integer(Int64(commands.count)), .integer(Int64(commands.map(\.limit).min() ?? 0)),
            .integer(commands.map(\.issued).min() ?? 0),
        ]
        guard !session.isDistributed else { return BoundStatement(.take, of: owner, taken) }
        return BoundStatement(
            .add, of: owner,
            taken + [
                .integer(ChangePoint.newOrigin), .texts(commands.map(\.text.value)),
                .booleans(commands.map(\.completed)), .integers(commands.map(\.time)),
            ] + commands.map(\.details).parameters)
    }

    /// Whether there is more to do after the first round trip.
    var mustRun: Bool { !commands.isEmpty || session.isDistributed && !additions.isEmpty }

    mutating func receive(_ rows: borrowing Rows, of statement: TaskStatement) {
        if statement == .add || statement == .take {
            firstAdded = rows.count > 0 ? (rows.integer(0, 0), rows.integer(0, 1)) : nil
        } else {
            transaction.receive(rows, of: statement)
        }
    }

    mutating func run() throws(PostgreSQLError) {
        let statements = reading
        if session.isDistributed, transaction.row() == nil, statements.first?.kind == .makeOwner {
            try session.exchangeAll(statements) { transaction.receive($1, of: statements[$0].kind) }
        }
        for command in commands { answers.append(try command.run(&transaction)) }
    }

    mutating func takeWrites() -> [BoundStatement] {
        guard session.isDistributed, let added else { return transaction.takeWrites() }
        return added.map { transaction.insertion(of: $0.item, change: $0.change) }
    }

    /// The tasks of the additions and their change numbers; nil if the first round trip added nothing.
    private var added: [(item: TaskItem, change: Int64)]? {
        firstAdded.map { first in
            additions.enumerated().map { index, addition in
                (addition.command.item(first.id + Int64(index)), first.change + Int64(index))
            }
        }
    }

    /// Notes the verdict on each write after the commit.
    func note(in result: inout BatchResult) {
        var change = transaction.change
        if let added {
            for (addition, (item, number)) in zip(additions, added) {
                change.put.append(item.id)
                // The commands ran after the additions.
                change.number = max(change.number, number)
                result.verdicts.append((addition.job, .answer { addition.answer(item) }))
            }
        } else {
            // Each addition is tried alone, reads the owner's row by itself, and has its own outcome.
            for (job, _, _) in additions { result.verdicts.append((job, .again(job.again(job.retry.alone)))) }
        }
        result.note(change)
        if transaction.hasProbed { result.note(nil) }
        for (command, answer) in zip(commands, answers) { result.verdicts.append((command.job, .answer(answer))) }
    }
}

/// A command or a check of the database, and the caller who waits for the outcome.
final class PostgreSQLWrite: JobWork {
    typealias Answer = @Sendable () -> Void

    typealias Run = @Sendable (inout PostgreSQLTransaction) throws(PostgreSQLError) -> Answer

    /// The reads of the command; nil for a check.
    let reads: CommandReads?
    let run: Run
    /// An addition that can share a statement with others, and the closure that answers its caller.
    let addition: (command: AddTask, answer: @Sendable (TaskItem) -> Void)?

    init<Command: TaskCommand>(_ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>) {
        reads = command.reads
        run = Self.running(command, answer)
        addition = nil
    }

    init(adding command: AddTask, _ answer: @escaping StoreAnswer<AddOutcome>) {
        reads = command.reads
        run = Self.running(command, answer)
        addition = command.key == nil ? (command, { answer(.success(.added($0))) }) : nil
    }

    init(checkFor answer: @escaping StoreAnswer<Void>) {
        reads = nil
        run = { transaction throws(PostgreSQLError) in
            transaction.probe()
            return { answer(.success(())) }
        }
        addition = nil
    }

    private static func running<Command: TaskCommand>(
        _ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>
    ) -> Run {
        { transaction throws(PostgreSQLError) in
            let outcome = try command.outcome(on: &transaction)
            return { answer(outcome) }
        }
    }
}
