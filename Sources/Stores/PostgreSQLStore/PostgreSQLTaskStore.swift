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

    package func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
        try await read(.list(query, of: owner, in: answers))
    }

    package func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
        try await read(.find(id, of: owner))
    }

    package func add(
        _ text: TaskText, completed: Bool, details: TaskDetails, at time: Int64, attempt: IdempotencyKey?, limit: Int,
        of owner: Owner
    ) async throws(StoreError) -> AddOutcome {
        let command = AddTask(
            owner: owner, text: text, completed: completed, details: details, time: time, key: attempt, limit: limit)
        return try await write(.add(command)) { if case .addition(let outcome) = $0 { outcome } else { nil } }
    }

    package func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome {
        let command = ChangeTask(owner: owner, id: id, change: change, expected: expected, time: time)
        return try await write(.change(command)) { if case .change(let outcome) = $0 { outcome } else { nil } }
    }

    package func changeAll(
        _ changes: [IdentifiedChange], at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeAllOutcome {
        let command = ChangeTasks(owner: owner, changes: changes, time: time, answers: answers)
        return try await write(.changeAll(command)) { if case .changes(let outcome) = $0 { outcome } else { nil } }
    }

    package func remove(
        _ id: Int64, expected: Set<Int64>?, of owner: Owner
    ) async throws(StoreError) -> RemoveOutcome {
        try await write(.remove(RemoveTask(owner: owner, id: id, expected: expected))) {
            if case .removal(let outcome) = $0 { outcome } else { nil }
        }
    }

    package func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int {
        try await write(.removeText(RemoveTasksWithText(owner: owner, text: text))) {
            if case .removals(let count) = $0 { count } else { nil }
        }
    }

    package func removeCompleted(of owner: Owner) async throws(StoreError) -> Int {
        try await write(.removeCompleted(RemoveCompletedTasks(owner: owner))) {
            if case .removals(let count) = $0 { count } else { nil }
        }
    }

    /// See ``TaskStore/check()``: goes through a transaction, which a standby would refuse; at the start and after a write
    /// that failed it writes as an addition does, until that works.
    package func check() async throws(StoreError) {
        try await write(.check) { if case .checked = $0 { () } else { nil } }
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

    private func write<Outcome: Sendable>(
        _ command: Write.Command, _ expected: (Write.Outcome) -> Outcome?
    ) async throws(StoreError) -> Outcome {
        let outcome = try await Reply<Write.Outcome>.awaiting { reply in
            let caller = Caller(reply)
            guard !queue.submit(Write(command, for: caller)) else { return }
            counts.refused()
            caller.answer(.failure(.overloaded))
        }
        guard let outcome = expected(outcome) else { throw .broken(reason: "a write was answered with \(outcome)") }
        return outcome
    }
}
