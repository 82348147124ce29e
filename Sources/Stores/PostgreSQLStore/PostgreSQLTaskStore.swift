import Platform
import PostgreSQL
import Synchronization
package import Tasks

/// Keeps tasks in PostgreSQL: durable, for any number of servers on any number of machines.
///
/// One thread drives a few sessions in pipeline mode, with many requests under way on each. Reads that wait together go
/// out together, and whoever asks for the same list before it went out shares the answer; writes that wait together share
/// one transaction and one commit. Nothing is remembered between requests, so no answer is older than its request.
///
/// A lost session fails what was under way on it: a write whose commit was not confirmed is answered
/// ``Tasks/StoreError/unavailable(reason:)`` and may be there or not; an idempotency key makes its retry safe.
package final class PostgreSQLTaskStore: TaskStore {
    private let inbox: StoreInbox
    private let counts: StoreCounts
    private let connector: StoreConnector
    private let thread = Mutex<NamedThread?>(nil)

    private init(_ inbox: StoreInbox, _ connector: StoreConnector, _ counts: StoreCounts) {
        self.inbox = inbox
        self.connector = connector
        self.counts = counts
    }

    deinit { close() }

    /// Reaches the database that a connection string of libpq names, brings its tables up to date, and starts.
    package static func open(
        _ connectionString: String, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws(StoreOpenError) -> PostgreSQLTaskStore {
        let database = try StoreDatabase(connectionString)
        let facts = try database.prepare(partitions: options.partitions)
        switch facts.migratedFrom {
        case nil: break
        case 0: options.observer(.created(version: StoreSchema.known))
        case .some(let version): options.observer(.migrated(from: version, to: StoreSchema.known))
        }
        guard let poller = SocketPoller() else {
            throw .failed(path: database.name, reason: "too many open files")
        }
        let inbox = StoreInbox(capacity: options.waiting, places: max(options.writers, 1), poller: poller)
        let connector = StoreConnector(to: database.target, for: inbox, observer: options.observer)
        let counts = StoreCounts(isOneOwnerOnly: facts.isForeign)
        let store = PostgreSQLTaskStore(inbox, connector, counts)
        do throws(NamedThread.Failure) {
            let driving = try NamedThread.start("postgresql") {
                StoreDriver(inbox, connector, options, counts).run()
                options.observer(.closed(checkpointed: nil))
            }
            store.thread.withLock { $0 = driving }
            // Nobody waits for its end, which a host that does not answer may delay.
            _ = try NamedThread.start("pg-connect") { connector.run() }
        } catch {
            throw .failed(path: database.name, reason: "no thread: error \(error.code)")
        }
        return store
    }

    /// What was counted until now.
    package var statistics: StoreStatistics { counts.statistics }

    /// See ``TaskStore/list(_:of:)``.
    package func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
        try await Reply<TaskList>.awaiting { read(.list(query, owner, $0)) }
    }

    /// See ``TaskStore/find(_:of:)``.
    package func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
        try await Reply<TaskItem?>.awaiting { read(.find(id, owner, $0)) }
    }

    /// See ``TaskStore/add(_:completed:at:attempt:limit:of:)``.
    package func add(
        _ text: TaskText, completed: Bool, at time: Int64, attempt: IdempotencyKey?, limit: Int, of owner: Owner
    ) async throws(StoreError) -> AddOutcome {
        let new = NewTask(text: text, completed: completed, time: time, attempt: attempt, limit: limit)
        return try await Reply<AddOutcome>.awaiting { write(.add(new, owner, $0)) }
    }

    /// See ``TaskStore/change(_:_:expected:at:of:)``.
    package func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome {
        let alteration = TaskAlteration(id: id, change: change, expected: expected, time: time)
        return try await Reply<ChangeOutcome>.awaiting { write(.change(alteration, owner, $0)) }
    }

    /// See ``TaskStore/remove(_:of:)``.
    package func remove(_ id: Int64, of owner: Owner) async throws(StoreError) -> Bool {
        try await Reply<Bool>.awaiting { write(.remove(id, owner, $0)) }
    }

    /// See ``TaskStore/removeAll(with:of:)``.
    package func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int {
        try await Reply<Int>.awaiting { write(.removeAll(text, owner, $0)) }
    }

    /// See ``TaskStore/check()``: goes through a transaction, which a standby would refuse; at the start and after a write
    /// that failed it writes as an addition does, until that works.
    package func check() async throws(StoreError) {
        try await Reply<Void>.awaiting { write(.touch($0)) }
    }

    /// See ``TaskStore/close()``.
    package func close() {
        inbox.close()
        thread.withLock { $0 }?.join()
    }

    private func read(_ request: ReadRequest) {
        guard !inbox.submit(request) else { return }
        counts.refused()
        request.refuse(.overloaded)
    }

    private func write(_ request: WriteRequest) {
        guard !inbox.submit(request) else { return }
        counts.refused()
        request.refuse(.overloaded)
    }
}
