import Basics
import Platform
import PostgreSQL
import Synchronization
package import Tasks

/// Keeps tasks in PostgreSQL: durable, for any number of servers on any number of machines.
///
/// One thread drives a few sessions in pipeline mode, with many requests under way on each. Reads that wait together are
/// sent together; writes that wait together share one transaction and one commit. Nothing is remembered between requests, so no answer is older than its request.
///
/// A lost session fails what was under way on it: a write whose commit was not confirmed is answered
/// ``Tasks/StoreError/unavailable(reason:)`` and may have been done or not; an idempotency key makes its retry safe.
package final class PostgreSQLTaskStore: TaskStore {
    private let queue: RequestQueue
    private let counts: PostgreSQLCounts
    private let answers: AnswerMemory
    private let thread = Mutex<NamedThread?>(nil)

    private init(_ queue: RequestQueue, _ counts: PostgreSQLCounts, _ answers: AnswerMemory) {
        self.queue = queue
        self.counts = counts
        self.answers = answers
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
        guard let poller = SocketPoller() else {
            throw .failed(path: database.name, reason: "too many open files")
        }
        let queue = RequestQueue(capacity: options.waiting, lanes: max(options.writers, 1), poller: poller)
        let store = PostgreSQLTaskStore(queue, PostgreSQLCounts(), options.answers)
        let noThread = { (failure: NamedThread.Failure) in
            StoreOpenError.failed(path: database.name, reason: "no thread: error \(failure.code)")
        }
        try rethrowing(as: noThread) { () throws(NamedThread.Failure) in
            try store.start(
                PostgreSQLConnector(to: database.target, for: queue, observer: options.observer), options, facts)
        }
        return store
    }

    private func start(
        _ connector: PostgreSQLConnector, _ options: PostgreSQLStoreOptions, _ facts: PostgreSQLDatabase.Facts
    ) throws(NamedThread.Failure) {
        let (queue, counts) = (queue, counts)
        let driving = try NamedThread.start("postgresql") {
            SessionDriver(queue, connector, options, counts, isOneOwnerOnly: facts.isForeign).run()
            options.observer(.closed(checkpointed: nil))
        }
        thread.withLock { $0 = driving }
        // No one waits for its end, which a host that does not answer may delay.
        _ = try NamedThread.start("pg-connect") { connector.run() }
    }

    /// What was counted until now.
    package var statistics: StoreStatistics {
        var statistics = counts.statistics
        queue.report(to: &statistics)
        return statistics
    }

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

    package func close() {
        queue.close()
        thread.withLock { $0 }?.join()
    }

    private func read<Outcome>(_ operation: ReadOperation<Outcome>) async throws(StoreError) -> Outcome {
        try await Reply<Outcome>.awaiting { reply in
            let caller = Caller(reply)
            guard !queue.submit(Read(operation, for: caller)) else { return }
            counts.refused()
            caller.answer(.failure(.overloaded))
        }
    }

    private func write<Command: PostgreSQLCommand>(
        _ command: Command
    ) async throws(StoreError) -> Command.Outcome {
        try await Reply<Command.Outcome>.awaiting { reply in
            let caller = Caller(reply)
            guard !queue.submit(Write(command, for: caller)) else { return }
            counts.refused()
            caller.answer(.failure(.overloaded))
        }
    }
}
