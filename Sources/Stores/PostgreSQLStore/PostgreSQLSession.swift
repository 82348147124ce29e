import Basics
import Platform
import PostgreSQL
import StoreEngine
import Synchronization
import Tasks

/// A session with the database: one thread uses it, and blocks until the database has answered.
final class PostgreSQLSession: StoreSession {
    struct Configuration: Sendable {
        let target: ConnectionTarget
        let options: PostgreSQLStoreOptions
        /// Whether Citus distributes the tables, so that a server's transaction covers one owner.
        let isDistributed: Bool
        let preparation: StatementPreparation
        let isHealthy: @Sendable () -> Bool
    }

    /// The seconds that a session may take to get ready, once it is connected.
    private static let mostSeconds = 5
    /// The most idempotency keys or removed tasks that are forgotten at once, so that reads on the same session wait
    /// for milliseconds.
    private static let mostPruned = 1000

    private let connection: PipelineConnection
    private let configuration: Configuration
    private let time = SystemTime()
    private let isPrepared: Bool
    /// Whether the rows of the database know the transaction that wrote them, as CockroachDB's do not.
    private let hasWriter: Bool
    /// The time of the next check whether the server has ended the session; monotonic nanoseconds.
    private var nextCheck: UInt64 = 0
    private var nextPruning: UInt64
    /// The error by which the session was lost.
    private(set) var loss: PostgreSQLError?

    /// Connects, unless there is a connection.
    ///
    /// If preparation is wanted, a session that is not shared prepares its statements.
    init(
        number: Int, _ configuration: Configuration, on connected: PipelineConnection? = nil
    ) throws(PostgreSQLError) {
        connection = if let connected { connected } else { try PipelineConnection(to: configuration.target) }
        connection.limitWaits(toSeconds: Self.mostSeconds)
        let version = try PostgreSQLSchema.version(on: connection) ?? 0
        guard version <= PostgreSQLSchema.known else {
            throw PostgreSQLError(
                sqlState: nil, message: "the tables have version \(version), of a newer task-server")
        }
        self.configuration = configuration
        // One session of the store is enough to forget what is too old.
        nextPruning = number == 0 ? 0 : .max
        hasWriter = (try? connection.run("SELECT xmin FROM owners WHERE owner = ''")) != nil
        isPrepared = try Self.prepare(on: connection, configuration.preparation, hasWriter)
        try connection.enterPipeline()
    }

    /// Prepares the statements if wanted; false also if a name is taken, which shows that a pool shares the session.
    private static func prepare(
        on connection: PipelineConnection, _ preparation: StatementPreparation, _ hasWriter: Bool
    ) throws(PostgreSQLError) -> Bool {
        guard preparation.isWanted else { return false }
        do throws(PostgreSQLError) {
            for statement in TaskStatement.allCases where statement.isPrepared {
                let sql = hasWriter ? statement.sql : statement.sqlWithoutWriter
                try connection.prepare(statement.preparedName, sql, statement.types)
            }
            return true
        } catch {
            guard error.kind == .unprepared else { throw error }
            preparation.stop()
            return false
        }
    }

    // MARK: Between two batches

    func maintain(at now: UInt64) throws(SessionLoss) -> UInt64 {
        try rethrowing(as: { SessionLoss($0.description) }) { () throws(PostgreSQLError) in
            if now >= nextCheck {
                try check()
                nextCheck = now + configuration.options.sleepMilliseconds * 1_000_000
            }
            if now >= nextPruning { try prune(at: now) }
        }
        return min(nextCheck, nextPruning)
    }

    /// Throws if the news has arrived that the server has ended the session.
    private func check() throws(PostgreSQLError) {
        // A server that ends a session sends a message before the end: the first call reads it, the second one the end.
        for _ in 0..<2 { try connection.receive() }
        if connection.isLost { throw connection.lastError }
    }

    /// Forgets idempotency keys and removed tasks that are too old, also of owners who never come again, and owners who
    /// were deleted long ago; a failure is reported, and tried again after a minute.
    private func prune(at now: UInt64) throws(PostgreSQLError) {
        let (options, most) = (configuration.options, Parameter.integer(Int64(Self.mostPruned)))
        let time = options.time.wallMilliseconds
        let keys = Parameter.integer(time - IdempotencyKey.lifetime)
        let owners = Parameter.integer(time - OwnerRow.markLifetime)
        let removed = Parameter.integer(time - options.removedTasksKept)
        let old =
            isDistributed
            ? [BoundStatement(.pruneDistributed, [keys]), BoundStatement(.pruneDistributedOwners, [owners])]
            : [BoundStatement(.prune, [keys, most]), BoundStatement(.pruneOwners, [owners, most])]
        var isDone = true
        var failure = try exchange(old) { if $1.count == Self.mostPruned { isDone = false } }
        var owner: Owner?
        failure =
            try exchange([BoundStatement(.oldestRemoved, [removed])]) { _, rows in
                if rows.count > 0 { owner = Owner(rows.text(0, 0)) }
            } ?? failure
        if let owner {
            // Pruning goes on at once, because other owners may also have removed tasks that are too old.
            let tasks = BoundStatement(.pruneRemoved, of: owner, [removed, most])
            failure = try exchange([tasks]) { if $1.count > 0 { isDone = false } } ?? failure
        }
        let interval = options.pruningMilliseconds * 1_000_000
        nextPruning = isDone ? now + interval : 0
        guard let failure, !failure.error.isPassing else { return }
        nextPruning = now + 6 * interval
        options.observer(.pruningFailed(reason: failure.error.description))
    }

    // MARK: Jobs

    /// The memory of the answers to lists of changes.
    var answers: AnswerMemory { configuration.options.answers }
    /// Whether a readiness check must insert a row: no write has succeeded since the last failure; never with Citus.
    var isProbing: Bool { !isDistributed && !configuration.isHealthy() }
    var isDistributed: Bool { configuration.isDistributed }

    func run(_ jobs: [Job]) -> BatchResult {
        do throws(PostgreSQLError) {
            try check()
        } catch {
            var result = BatchResult(jobs) { .again($0) }
            result.loss = SessionLoss(error.description)
            return result
        }
        return jobs.first?.kind == .write ? write(jobs) : read(jobs)
    }

    private func read(_ jobs: [Job]) -> BatchResult {
        var batch = ReadBatch(jobs, sharesStatements: !isDistributed)
        do throws(PostgreSQLError) {
            if !batch.statements.isEmpty {
                let failure = try exchange(batch.statements) { batch.receive($1, at: $0) }
                if let failure { batch.fail(failure.error, at: failure.index) }
            }
            while let pieces = batch.pieces { try run(pieces, of: &batch) }
            return batch.result()
        } catch {
            return batch.lost(error)
        }
    }

    private func run(_ pieces: PostgreSQLRead.Pieces, of batch: inout ReadBatch) throws(PostgreSQLError) {
        do throws(PostgreSQLError) {
            try pieces(self)
            batch.settlePieces()
        } catch {
            if let loss { throw loss }
            batch.fail(error)
        }
    }

    /// Reads piece by piece, all of one state of the database; `next` takes a piece, and names the following one.
    func readPieces(
        _ first: BoundStatement, _ next: (borrowing Rows) -> BoundStatement?
    ) throws(PostgreSQLError) {
        var statements = [BoundStatement(.beginReads), first]
        while let last = statements.indices.last {
            var following: BoundStatement?
            let failure = try exchange(statements) { if $0 == last { following = next($1) } }
            if let failure {
                _ = try exchange([BoundStatement(.rollBack)]) { _, _ in }
                throw failure.error
            }
            statements = following.map { [$0] } ?? []
        }
        _ = try exchange([BoundStatement(.commit)]) { _, _ in }
    }

    private func write(_ jobs: [Job]) -> BatchResult {
        var batch = WriteBatch(jobs, on: self)
        do throws(PostgreSQLError) {
            return try batch.run(deadlineMilliseconds: configuration.options.deadlineMilliseconds)
        } catch {
            return batch.lost(error)
        }
    }

    /// Sends statements in one round trip, and gives the rows of each.
    ///
    /// Returns the failure of a statement, after which none was run; throws if the session is lost.
    func exchange(
        _ statements: [BoundStatement], _ receive: (Int, borrowing Rows) -> Void
    ) throws(PostgreSQLError) -> (index: Int, error: PostgreSQLError)? {
        do throws(PostgreSQLError) {
            return try exchangeOnce(statements, receive)
        } catch {
            loss = error
            throw error
        }
    }

    /// Sends statements in one round trip, and gives the rows of each; throws if one of them fails.
    func exchangeAll(
        _ statements: [BoundStatement], _ receive: (Int, borrowing Rows) -> Void = { _, _ in }
    ) throws(PostgreSQLError) {
        if let failure = try exchange(statements, receive) { throw failure.error }
    }

    private func exchangeOnce(
        _ statements: [BoundStatement], _ receive: (Int, borrowing Rows) -> Void
    ) throws(PostgreSQLError) -> (index: Int, error: PostgreSQLError)? {
        let isPrepared = isPrepared && configuration.preparation.isWanted
        for statement in statements {
            try connection.send(statement.form(isPrepared: isPrepared, hasWriter: hasWriter), statement.parameters)
        }
        return try outcome(of: statements.count, receive)
    }

    /// Runs a query of a command.
    func run(
        _ sql: String, _ parameters: [Parameter], _ receive: (borrowing Rows) -> Void
    ) throws(PostgreSQLError) {
        try connection.send(.text(sql), parameters)
        if let failure = try outcome(of: 1, { receive($1) }) { throw failure.error }
    }

    /// Takes the answers to `count` statements.
    private func outcome(
        of count: Int, _ receive: (Int, borrowing Rows) -> Void
    ) throws(PostgreSQLError) -> (index: Int, error: PostgreSQLError)? {
        let deadline = time.monotonicNanoseconds + UInt64(configuration.options.deadlineMilliseconds + 1000) * 1_000_000
        try connection.synchronize()
        var failed: (index: Int, error: PostgreSQLError)?
        for index in 0..<count {
            switch try connection.nextOutcome(untilMonotonicNanoseconds: deadline) {
            case .rows(let rows): receive(index, rows)
            case .failure(let error):
                failed = failed ?? (index, error)
                if error.kind == .unprepared { configuration.preparation.stop() }
            case .skipped: break
            case .synchronized: throw PostgreSQLError(sqlState: nil, message: "an answer is missing")
            }
        }
        // A server that stops may say so after the last statement: what was done holds, but nothing follows it.
        guard case .synchronized = try connection.nextOutcome(untilMonotonicNanoseconds: deadline) else {
            throw connection.lastError
        }
        return failed
    }
}

/// Whether sessions prepare statements; they stop once one of them is found to be shared by a pool.
final class StatementPreparation: Sendable {
    private let wanted = Atomic(true)
    private let observer: @Sendable (StoreEvent) -> Void

    init(observer: @escaping @Sendable (StoreEvent) -> Void) { self.observer = observer }

    var isWanted: Bool { wanted.load(ordering: .relaxed) }

    /// Ends the use of names: from now on every statement is sent as SQL, which is reported once.
    func stop() {
        if wanted.exchange(false, ordering: .relaxed) { observer(.sessionsShared) }
    }
}
