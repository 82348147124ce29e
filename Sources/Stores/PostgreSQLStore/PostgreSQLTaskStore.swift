import Basics
import Platform
import PostgreSQL
package import Tasks

/// Keeps tasks in PostgreSQL: durable, for any number of servers on any number of machines.
///
/// Each of a few sessions has a lane: a queue, and a thread that blocks until the database has answered (``Lane``). Reads
/// that wait together are sent together; writes that wait together share one transaction and one commit. Nothing is
/// remembered between requests, so no answer is older than its request.
///
/// A lost session fails what was under way on it: a write whose commit was not confirmed is answered
/// ``Tasks/StoreError/unavailable(reason:)`` and may have been done or not; an idempotency key makes its retry safe.
package final class PostgreSQLTaskStore: TaskStore {
    private let lanes: Lanes
    private let answers: AnswerMemory

    private init(_ options: PostgreSQLStoreOptions) {
        lanes = Lanes(options)
        answers = options.answers
    }

    deinit { close() }

    /// Reaches the database that a connection string of libpq names, brings its tables up to date, and starts.
    package static func open(
        _ connectionString: String, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws(StoreOpenError) -> PostgreSQLTaskStore {
        let database = try PostgreSQLDatabase(connectionString)
        let facts = try database.prepare(partitions: options.partitions)
        switch facts.migratedFrom {
        case nil: break
        case 0: options.observer(.created(version: PostgreSQLSchema.known))
        case .some(let version): options.observer(.migrated(from: version, to: PostgreSQLSchema.known))
        }
        let store = PostgreSQLTaskStore(options)
        let noThread = { (failure: NamedThread.Failure) in
            StoreOpenError.failed(path: database.name, reason: "no thread: error \(failure.code)")
        }
        try rethrowing(as: noThread) { () throws(NamedThread.Failure) in
            try store.lanes.start(on: database.target, isOneOwnerOnly: facts.isForeign)
        }
        return store
    }

    /// What was counted until now.
    package var statistics: StoreStatistics { lanes.statistics }

    package func read(_ query: ListTasks) async throws(StoreError) -> TaskList {
        try await read(.list(query, in: answers))
    }

    package func read(_ query: FindTask) async throws(StoreError) -> TaskItem? {
        try await read(.find(query))
    }

    package func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome { try await write(command) }

    package func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome { try await write(command) }

    package func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome {
        try await write(command)
    }

    package func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome { try await write(command) }

    package func perform(_ command: RemoveTasksWithText) async throws(StoreError) -> Int { try await write(command) }

    package func perform(_ command: RemoveCompletedTasks) async throws(StoreError) -> Int { try await write(command) }

    /// See ``TaskStore/check()``: goes through a transaction, which a standby would refuse; at the start and after a write
    /// that failed it writes as an addition does, until that works.
    package func check() async throws(StoreError) {
        try await write(CheckDatabase())
    }

    package func close() { lanes.close() }

    private func read<Outcome>(_ operation: ReadOperation<Outcome>) async throws(StoreError) -> Outcome {
        try await Reply<Outcome>.awaiting { lanes.submit(.read(Read(operation, $0))) }
    }

    private func write<Command: PostgreSQLCommand>(
        _ command: Command
    ) async throws(StoreError) -> Command.Outcome {
        try await Reply<Command.Outcome>.awaiting { lanes.submit(.write(Write(command, $0))) }
    }
}
