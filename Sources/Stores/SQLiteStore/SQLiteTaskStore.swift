import Platform
import SQLite
import Synchronization
package import Tasks

/// Keeps tasks in a SQLite file: durable, for one server on one machine.
///
/// One thread writes everything that waits in one transaction, and answers when it is on the disk; readers have threads
/// of their own; whole lists come from memory, without a wait. A lock file keeps other servers away, so that the memory
/// cannot go stale; an import beside the server is noticed within a second.
package final class SQLiteTaskStore: TaskStore {
    private let writer: Writer
    private let readers: ReaderPool
    private let memory: ListMemory
    private let health: StoreHealth
    private let thread = Mutex<NamedThread?>(nil)
    private let afterRead: @Sendable () -> Void

    private init(options: SQLiteStoreOptions) {
        memory = ListMemory(capacity: options.listMemory, answers: options.answers)
        health = StoreHealth(observer: options.observer)
        writer = Writer(options: options, memory: memory, health: health)
        readers = ReaderPool(threads: options.readers, waiting: options.waiting, health: health)
        afterRead = options.afterRead
    }

    deinit { close() }

    /// Opens the database of this path, makes it if it is missing, and brings it up to date.
    package static func open(
        path: String, options: SQLiteStoreOptions = SQLiteStoreOptions()
    ) throws(StoreOpenError) -> SQLiteTaskStore {
        let file = StoreFile(path)
        let locked = try file.lock()
        let connection = try file.openForWriting(maximumPages: options.maximumPages, options.observer)
        let database: WriterDatabase
        do throws(SQLiteError) {
            database = try WriterDatabase.open(on: connection, beforeCommit: options.beforeCommit)
        } catch {
            throw StoreOpenError(error, path: file.path)
        }
        let store = SQLiteTaskStore(options: options)
        try store.start(WriterBox(database, locked), file, options.answers)
        return store
    }

    private func start(_ box: WriterBox, _ file: StoreFile, _ answers: AnswerMemory) throws(StoreOpenError) {
        let failed = { (failure: NamedThread.Failure) in
            StoreOpenError.failed(path: file.path, reason: "no thread: error \(failure.code)")
        }
        try readers.start(
            { () throws(StoreOpenError) in try Self.readTables(of: file, answers) }, threadFailed: failed)
        do throws(NamedThread.Failure) {
            let writer = writer
            let started = try NamedThread.start("writer") { box.work(for: writer) }
            thread.withLock { $0 = started }
        } catch {
            throw failed(error)
        }
    }

    private static func readTables(of file: StoreFile, _ answers: AnswerMemory) throws(StoreOpenError) -> ReadTables {
        let connection = try file.open(.readWrite)
        do throws(SQLiteError) {
            return try ReadTables.compiled(on: connection, answers: answers)
        } catch {
            throw StoreOpenError(error, path: file.path)
        }
    }

    /// What was counted until now.
    package var statistics: StoreStatistics {
        var statistics = writer.statistics
        readers.report(to: &statistics)
        memory.report(to: &statistics)
        return statistics
    }

    /// See ``TaskStore/listAtHand(of:)``: a list in memory.
    package func listAtHand(of owner: Owner) -> TaskList? { memory.list(of: owner) }

    /// See ``TaskStore/list(_:of:)``.
    package func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
        guard query == .all else {
            return try await Reply<TaskList>.awaiting { reply in
                readers.submit(PendingPage(query: query, owner: owner, reply: reply))
            }
        }
        return try await Reply<TaskList>.awaiting { load(owner, $0) }
    }

    private func load(_ owner: Owner, _ reply: Reply<TaskList>) {
        switch memory.join(owner, { reply.answer($0) }) {
        case .found(let list): reply.answer(.success(list))
        case .refused(let error): reply.answer(.failure(error))
        case .joined: break
        case .mustLoad(let load):
            readers.submit(PendingLoad(owner: owner, load: load, memory: memory, afterRead: afterRead))
        }
    }

    /// See ``TaskStore/find(_:of:)``.
    package func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
        try await Reply<TaskItem?>.awaiting { readers.submit(PendingFind(id: id, owner: owner, reply: $0)) }
    }

    /// See ``TaskStore/add(_:completed:at:attempt:limit:of:)``.
    package func add(
        _ text: TaskText, completed: Bool, at time: Int64, attempt: IdempotencyKey?, limit: Int, of owner: Owner
    ) async throws(StoreError) -> AddOutcome {
        try await writer.perform(
            Addition(owner: owner, text: text, completed: completed, time: time, attempt: attempt, limit: limit))
    }

    /// See ``TaskStore/change(_:_:expected:at:of:)``.
    package func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome {
        try await writer.perform(Alteration(owner: owner, id: id, change: change, expected: expected, time: time))
    }

    /// See ``TaskStore/remove(_:of:)``.
    package func remove(_ id: Int64, of owner: Owner) async throws(StoreError) -> Bool {
        try await writer.perform(Removal(owner: owner, id: id))
    }

    /// See ``TaskStore/removeAll(with:of:)``.
    package func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int {
        try await writer.perform(RemovalByText(owner: owner, text: text))
    }

    /// See ``TaskStore/check()``: goes through the writer, so that a hanging one is noticed, and writes as an addition does.
    package func check() async throws(StoreError) {
        if let damage = health.damage { throw damage }
        try await writer.perform(Touch())
    }

    /// See ``TaskStore/close()``.
    package func close() {
        // Readers first: their connections would keep the log from being cut.
        readers.close()
        writer.queue.close()
        thread.withLock { $0 }?.join()
        memory.dropAll()
    }
}
