import Basics
import Platform
import SQLite
import Synchronization
package import Tasks

/// Keeps tasks in a SQLite file: durable, for one server on one machine.
///
/// One thread commits all waiting writes in one transaction, and answers them when it is on the disk. Reads have threads
/// of their own; whole lists come from a cache, without waiting. A lock keeps other servers away, and the commands that
/// write, so that the cache cannot become stale.
package final class SQLiteTaskStore: TaskStore {
    private let writer: Writer
    private let readers: ReaderPool
    private let cache: ListCache
    private let health: SQLiteHealth
    private let answers: AnswerMemory
    private let thread = Mutex<NamedThread?>(nil)
    private let afterRead: @Sendable () -> Void

    private init(options: SQLiteStoreOptions) {
        answers = options.answers
        cache = ListCache(capacity: options.listCache, answers: answers)
        health = SQLiteHealth(observer: options.observer)
        writer = Writer(options: options, cache: cache, health: health)
        readers = ReaderPool(threads: options.readers, waiting: options.waiting, health: health)
        afterRead = options.afterRead
    }

    deinit { close() }

    /// Opens the database at this path, creates it if it is missing, and brings it up to date.
    package static func open(
        path: String, options: SQLiteStoreOptions = SQLiteStoreOptions()
    ) throws(StoreOpenError) -> SQLiteTaskStore {
        let file = SQLiteFile(path)
        let lock = try file.lock()
        let database = try writerDatabase(of: file, options)
        let store = SQLiteTaskStore(options: options)
        let loop = WriterLoop(database, lock: lock, for: store.writer)
        try store.start(TransferBox(loop), file)
        return store
    }

    private static func writerDatabase(
        of file: SQLiteFile, _ options: SQLiteStoreOptions
    ) throws(StoreOpenError) -> WriterDatabase {
        let connection = try file.openForWriting(maximumPages: options.maximumPages, options.observer)
        // No closure: that could not consume the connection.
        do throws(SQLiteError) {
            connection.followLog()
            return try WriterDatabase.open(on: connection, beforeCommit: options.beforeCommit)
        } catch {
            throw file.openError(error)
        }
    }

    private func start(_ loop: TransferBox<WriterLoop>, _ file: SQLiteFile) throws(StoreOpenError) {
        try readers.start(on: file, answers)
        let checkpoints = TransferBox(try file.open(.readWrite))
        let started = try rethrowing(as: file.threadError) { () throws(NamedThread.Failure) in
            try writer.checkpointer.start(on: checkpoints)
            return try NamedThread.start("writer") { loop.take()?.work() }
        }
        thread.withLock { $0 = started }
    }

    /// The counts until now.
    package var statistics: StoreStatistics {
        var statistics = writer.statistics
        readers.report(to: &statistics)
        cache.report(to: &statistics)
        return statistics
    }

    package func cachedList(of owner: Owner) -> TaskList? { cache.list(of: owner) }

    package func list(_ query: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
        try await Reply<TaskList>.awaiting { reply in
            if query == .all { load(owner) { reply.answer($0) } } else { read(query, of: owner) { reply.answer($0) } }
        }
    }

    private func read(_ query: TaskQuery, of owner: Owner, _ answer: @escaping ListCache.Waiter) {
        let afterRead = afterRead
        let body: Read<Result<TaskList, StoreError>>.Body = { statements throws(SQLiteError) in
            let list = try statements.list(query, of: owner)
            afterRead()
            return list
        }
        readers.submitList(of: owner, body, answer: answer)
    }

    /// Everything of an owner, for the cache and for all who wait for it there.
    private func load(_ owner: Owner, _ waiter: @escaping ListCache.Waiter) {
        switch cache.join(owner, waiter) {
        case .found(let list): waiter(.success(list))
        case .refused(let error): waiter(.failure(error))
        case .joined: break
        case .mustLoad(let load):
            let cache = cache
            read(.all, of: owner) { cache.finish(load, of: owner, with: $0) }
        }
    }

    package func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
        try await readers.read { statements throws(SQLiteError) in try statements.find(id, of: owner) }
    }

    package func add(
        _ text: TaskText, completed: Bool, details: TaskDetails, at time: Int64, attempt: IdempotencyKey?, limit: Int,
        of owner: Owner
    ) async throws(StoreError) -> AddOutcome {
        try await writer.perform(
            AddTask(
                owner: owner, text: text, completed: completed, details: details, time: time, key: attempt,
                limit: limit))
    }

    package func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome {
        try await writer.perform(ChangeTask(owner: owner, id: id, change: change, expected: expected, time: time))
    }

    package func changeAll(
        _ changes: [IdentifiedChange], at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeAllOutcome {
        try await writer.perform(ChangeTasks(owner: owner, changes: changes, time: time, answers: answers))
    }

    package func remove(
        _ id: Int64, expected: Set<Int64>?, of owner: Owner
    ) async throws(StoreError) -> RemoveOutcome {
        try await writer.perform(RemoveTask(owner: owner, id: id, expected: expected))
    }

    package func removeAll(with text: TaskText, of owner: Owner) async throws(StoreError) -> Int {
        try await writer.perform(RemoveTasksWithText(owner: owner, text: text))
    }

    package func removeCompleted(of owner: Owner) async throws(StoreError) -> Int {
        try await writer.perform(RemoveCompletedTasks(owner: owner))
    }

    /// See ``TaskStore/check()``: goes through the writer, so that a hanging one is noticed, and writes what an addition
    /// writes.
    package func check() async throws(StoreError) {
        if let damage = health.damage { throw damage }
        try await writer.perform(WriteProbe())
    }

    package func close() {
        // Readers and checkpoints first: their connections would keep the log from being truncated.
        readers.close()
        writer.checkpointer.close()
        writer.queue.close()
        thread.withLock { $0 }?.join()
        cache.removeAll()
    }
}
