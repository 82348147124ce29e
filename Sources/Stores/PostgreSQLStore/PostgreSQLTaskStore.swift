package import Basics
import PostgreSQL
import StoreEngine
package import Tasks

/// Keeps tasks in PostgreSQL: durable, for any number of servers on any number of machines.
///
/// Reads that wait together are sent together, and equal lists are read once; writes that wait together share one
/// transaction and one commit. Nothing is remembered between requests, so no answer is older than its request. A write
/// whose commit was not confirmed is answered ``Tasks/StoreError/unavailable(reason:)`` and may have been done or not; an
/// idempotency key makes its retry safe.
package final class PostgreSQLTaskStore: TaskStore {
    private let engine: StoreEngine
    private let options: PostgreSQLStoreOptions

    private init(_ options: PostgreSQLStoreOptions, sharesTransactions: Bool) {
        self.options = options
        var parts = EngineOptions(
            readers: (0..<max(options.readers, 1)).map { "pg-reader-\($0)" },
            writers: (0..<max(options.writers, 1)).map { "pg-writer-\($0)" })
        parts.mostReads = 64
        parts.mostBytes = options.mostBytes
        parts.countsUnderWay = true
        parts.sharesTransactions = sharesTransactions
        parts.patience = UInt64(options.deadlineMilliseconds) * 1_000_000
        parts.observer = options.observer
        engine = StoreEngine(parts)
    }

    deinit { close() }

    /// Reaches the database that a connection string of libpq names, brings its tables up to date, and starts.
    package static func open(
        _ connectionString: String, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws(OperatorError) -> PostgreSQLTaskStore {
        let database = try PostgreSQLDatabase(connectionString)
        let (version, partitions) = try database.prepare(partitions: options.partitions)
        if let version { options.observer(.upgraded(from: version, to: PostgreSQLSchema.known)) }
        let store = PostgreSQLTaskStore(options, sharesTransactions: !partitions.areForeign)
        let engine = store.engine
        let parts = Session.Parts(
            target: database.target, options: options, isOneOwnerOnly: partitions.areForeign,
            preparation: StatementPreparation(observer: options.observer), isHealthy: { engine.isHealthy })
        try engine.start { number throws(SessionLoss) in
            try rethrowing(as: { SessionLoss($0.description) }) { () throws(PostgreSQLError) in
                try Session(number: number, parts)
            }
        }
        return store
    }

    package var statistics: StoreStatistics { engine.statistics }
    package var times: StoreTimes { engine.times }

    package func read(_ query: ListTasks) async throws(StoreError) -> TaskList {
        try await engine.list(query) { PostgreSQLRead.list($0, in: options.answers) }
    }

    package func read(_ query: FindTask) async throws(StoreError) -> TaskItem? {
        try await engine.outcome(of: query.owner, .find) { PostgreSQLRead.find(query, $0) }
    }

    package func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome {
        try await engine.outcome(of: command.owner, .write, payload: command.payload) {
            PostgreSQLWrite(adding: command, $0)
        }
    }

    package func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome { try await write(command) }

    package func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome {
        try await write(command)
    }

    package func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome { try await write(command) }

    package func perform(_ command: RemoveTasks) async throws(StoreError) -> Int {
        try await command.repeated { command throws(StoreError) in try await write(command) }
    }

    /// Makes a transaction, which a standby would refuse.
    ///
    /// At the start and after a write that failed, the check writes as an addition does, until a write succeeds.
    package func check() async throws(StoreError) {
        // No token can have this owner.
        try await engine.outcome(of: Owner(""), .write) { PostgreSQLWrite(checkFor: $0) }
    }

    package func close() {
        if engine.close() { options.observer(.closed(checkpointed: nil)) }
    }

    private func write<Command: TaskCommand>(_ command: Command) async throws(StoreError) -> Command.Outcome {
        try await engine.outcome(of: command.owner, .write, weight: command.weight, payload: command.payload) {
            PostgreSQLWrite(command, $0)
        }
    }
}
