package import Basics
package import Platform
import PostgreSQL
import StoreEngine
package import Tasks

/// Keeps tasks in PostgreSQL: durable, for any number of servers on any number of machines.
///
/// Reads that wait together are sent together, and equal lists are read once; writes that wait together share one
/// transaction and one commit. A cached list is answered if the database still has the list's change number, so no
/// answer is older than its request. A write whose commit was not confirmed is answered
/// ``Tasks/StoreError/unavailable(reason:)`` and may have been done or not; an idempotency key makes its retry safe.
package final class PostgreSQLTaskStore: CommandStore {
    private let engine: StoreEngine
    private let options: PostgreSQLStoreOptions
    private let isDistributed: Bool
    /// The time until which other servers may change lists without a new change number; milliseconds since 1970, UTC.
    private let olderUntil: Int64

    private init(_ options: PostgreSQLStoreOptions, isDistributed: Bool, olderUntil: Int64) {
        self.options = options
        self.isDistributed = isDistributed
        self.olderUntil = olderUntil
        var settings = EngineOptions(
            readers: (0..<max(options.readers, 1)).map { "pg-reader-\($0)" },
            writers: (0..<max(options.writers, 1)).map { "pg-writer-\($0)" })
        settings.mostReads = 64
        settings.mostBytes = options.mostBytes
        settings.countsUnderWay = true
        settings.sharesTransactions = !isDistributed
        settings.patience = UInt64(options.deadlineMilliseconds) * 1_000_000
        settings.observer = options.observer
        settings.answers = options.answers
        engine = StoreEngine(settings)
    }

    deinit { close() }

    /// Reaches the database that a connection string of libpq names, brings its tables up to date, and starts.
    package static func open(
        _ connectionString: String, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws(OperatorError) -> PostgreSQLTaskStore {
        let database = try PostgreSQLDatabase(connectionString)
        let (version, division, olderUntil) = try database.prepare(partitions: options.partitions)
        if let version { options.observer(.upgraded(from: version, to: PostgreSQLSchema.known)) }
        let store = PostgreSQLTaskStore(options, isDistributed: division.isDistributed, olderUntil: olderUntil)
        let engine = store.engine
        let configuration = PostgreSQLSession.Configuration(
            target: database.target, options: options, isDistributed: division.isDistributed,
            preparation: StatementPreparation(observer: options.observer), isHealthy: { engine.isHealthy })
        try engine.start { number throws(SessionLoss) in
            try rethrowing(as: { SessionLoss($0.description) }) { () throws(PostgreSQLError) in
                try PostgreSQLSession(number: number, configuration)
            }
        }
        return store
    }

    package var statistics: StoreStatistics { engine.statistics }
    package var times: StoreTimes { engine.times }

    package func read(_ query: ListTasks, _ answer: @escaping StoreAnswer<TaskList>) -> Cancellation {
        let isCached = query.selection == .all && options.time.wallMilliseconds >= olderUntil
        return engine.list(query, answer) { list in
            let reading = ListReading(list, engine.cache, in: options.answers)
            return isCached ? reading.cached : reading.page(at: nil)
        }
    }

    package func read(_ query: FindTask, _ answer: @escaping StoreAnswer<TaskItem?>) -> Cancellation {
        engine.call(of: query.owner, .find, answer, PostgreSQLRead.find(query, answer))
    }

    package var commits: CommitListeners { engine.commits }

    package func read(_ query: ListChanges, _ answer: @escaping StoreAnswer<ChangesOutcome>) -> Cancellation {
        engine.call(of: query.owner, .list, answer, PostgreSQLRead.changes(query, in: options.answers, answer))
    }

    package func changeNumbers(of owners: [Owner]) async throws(StoreError) -> [Owner: Int64] {
        // No token can have this owner.
        let ask = { (owners: [Owner]) async throws(StoreError) -> [Owner: Int64] in
            try await outcome {
                self.engine.call(of: Owner(""), .find, $0, PostgreSQLRead.changeNumbers(of: owners, $0))
            }
        }
        do throws(StoreError) { return try await ask(owners) } catch {
            guard isDistributed else { throw error }
            // One owner at a time, so that a lost database server hides only the changes of its own owners.
            var numbers: [Owner: Int64] = [:]
            for owner in owners {
                if let one = try? await ask([owner]) { numbers.merge(one) { $1 } }
            }
            return numbers
        }
    }

    package func perform(_ command: AddTask, _ answer: @escaping StoreAnswer<AddOutcome>) -> Cancellation {
        engine.call(
            of: command.owner, .write, payload: command.payload, answer, PostgreSQLWrite(adding: command, answer))
    }

    package func run<Command: TaskCommand>(
        _ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>
    ) -> Cancellation {
        engine.call(
            of: command.owner, .write, weight: command.weight, payload: command.payload, answer,
            PostgreSQLWrite(command, answer))
    }

    /// Makes a transaction, which a standby would refuse.
    ///
    /// At the start and after a write that failed, the check also inserts a row, until a write succeeds.
    package func check() async throws(StoreError) {
        // No token can have this owner.
        try await outcome { engine.call(of: Owner(""), .write, $0, PostgreSQLWrite(checkFor: $0)) }
    }

    package func close() {
        if engine.close() { options.observer(.closed(checkpointed: nil)) }
    }
}

/// The options of a PostgreSQL store; the defaults suit a server.
package struct PostgreSQLStoreOptions: Sendable {
    /// The number of sessions that read, and of those that write.
    package var readers = 2
    package var writers = 2
    /// Long lists take their memory here while they are made and sent.
    package var answers = AnswerMemory()
    /// The memory of all calls that wait, in bytes; more are refused as overloaded.
    package var mostBytes = 32 << 20
    /// The time that a statement may take, and that a call may wait for its turn.
    package var deadlineMilliseconds = 10_000
    /// The time for which removed tasks are known, in milliseconds.
    package var removedTasksKept = RemovedTask.kept
    /// The number of partitions of new tables; nil for tables without partitions.
    package var partitions: Int?
    /// A closure that is called with each event, on the thread where the event happens.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }

    /// For tests: the time by which idempotency keys and removed tasks are forgotten.
    package var time: any TimeSource = SystemTime()
    /// For tests: the pause between two searches for something to forget.
    package var pruningMilliseconds: UInt64 = 10_000
    /// For tests: the longest sleep of a thread before it checks whether its session has ended.
    package var sleepMilliseconds: UInt64 = 1000

    package init() {}
}

extension PostgreSQLTaskStore {
    /// Checks whether a server could work with the database, and changes nothing; returns the result in a line.
    package static func check(_ connectionString: String) throws(OperatorError) -> String {
        let database = try PostgreSQLDatabase(connectionString)
        let connection = try database.connect()
        guard let version = try database.checkedVersion(on: connection) else {
            try database.refuseMissingRightToMakeTables(on: connection)
            return "\(database.name) can be reached; tables will be created at the first start"
        }
        let age = version < PostgreSQLSchema.known ? "; tables will be brought up to date at the next start" : ""
        return "\(database.name) can be read and written\(age)"
    }

    /// Makes the tables, with this number of partitions if one is given, or brings them up to date; returns in a line
    /// what was done.
    package static func migrate(_ connectionString: String, partitions: Int?) throws(OperatorError) -> String {
        let database = try PostgreSQLDatabase(connectionString)
        let (version, found, _) = try database.prepare(partitions: partitions)
        if let partitions, found.partitions != partitions {
            let found = found.partitions.map { "\($0) partitions" } ?? "no partitions"
            throw OperatorError(
                "the tables in \(database.name) have \(found), and stay so",
                advice: "to divide them into \(partitions), export, migrate an empty database, and import")
        }
        let division = found.partitions.map { " in \($0) partitions" } ?? ""
        return switch version {
        case nil: "the tables in \(database.name) are up to date\(division)"
        case 0: "the tables in \(database.name) are made\(division)"
        case .some(let version):
            "the tables in \(database.name) are brought from version \(version) to \(PostgreSQLSchema.known)\(division)"
        }
    }

    /// Lets Citus distribute the tables of an up-to-date database; returns in a line what was done.
    package static func distribute(_ connectionString: String) throws(OperatorError) -> String {
        let database = try PostgreSQLDatabase(connectionString)
        let connection = try database.connectUpToDate()
        let isDone = try database.translating { () throws(PostgreSQLError) -> Bool? in
            let found = try connection.run("SELECT to_regproc('create_distributed_table') IS NOT NULL")
            return found.boolean(0, 0) ? try PostgreSQLSchema.distribute(on: connection) : nil
        }
        guard let isDone else {
            throw OperatorError(
                "the database \(database.name) has no extension citus",
                advice: "install it on each node, and CREATE EXTENSION citus as a superuser (docs/scale.md)")
        }
        return "the tables in \(database.name) are distributed by owner\(isDone ? "" : ", as they were before")"
    }
}
