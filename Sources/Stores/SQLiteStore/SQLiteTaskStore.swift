import Basics
import Platform
import SQLite
import StoreEngine
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
    private let thread = Mutex<NamedThread?>(nil)
    private let afterRead: @Sendable () -> Void

    private init(options: SQLiteStoreOptions) {
        cache = ListCache(capacity: options.listCache, answers: options.answers)
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
        try store.start(TransferBox(loop), file, options.answers)
        return store
    }

    private static func writerDatabase(
        of file: SQLiteFile, _ options: SQLiteStoreOptions
    ) throws(StoreOpenError) -> WriterDatabase {
        let connection = try file.openForWriting(maximumPages: options.maximumPages, options.observer)
        // No closure: that could not consume the connection.
        do throws(SQLiteError) {
            connection.followLog()
            return try WriterDatabase.open(
                on: connection, answers: options.answers, beforeCommit: options.beforeCommit)
        } catch {
            throw file.openError(error)
        }
    }

    private func start(
        _ loop: TransferBox<WriterLoop>, _ file: SQLiteFile, _ answers: AnswerMemory
    ) throws(StoreOpenError) {
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

    package func read(_ query: ListTasks) async throws(StoreError) -> TaskList {
        try await Reply<TaskList>.awaiting { reply in
            if query.selection == .all {
                load(query) { reply.answer($0) }
            } else {
                submit(query) { reply.answer($0) }
            }
        }
    }

    private func submit(_ query: ListTasks, _ answer: @escaping ListCache.Waiter) {
        let afterRead = afterRead
        let body: Read<Result<TaskList, StoreError>>.Body = { statements throws(SQLiteError) in
            let list = try statements.list(query)
            afterRead()
            return list
        }
        readers.submitList(of: query.owner, body, answer: answer)
    }

    /// Reads everything of an owner, for the cache and for all who wait for it there.
    private func load(_ query: ListTasks, _ waiter: @escaping ListCache.Waiter) {
        let owner = query.owner
        switch cache.join(owner, waiter) {
        case .found(let list): waiter(.success(list))
        case .refused(let error): waiter(.failure(error))
        case .joined: break
        case .mustLoad(let load):
            let cache = cache
            submit(query) { cache.finish(load, of: owner, with: $0) }
        }
    }

    package func read(_ query: FindTask) async throws(StoreError) -> TaskItem? {
        try await readers.read { statements throws(SQLiteError) in try statements.find(query) }
    }

    package func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome {
        try await writer.perform(command)
    }

    package func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome {
        try await writer.perform(command)
    }

    package func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome {
        try await writer.perform(command)
    }

    package func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome {
        try await writer.perform(command)
    }

    package func perform(_ command: RemoveTasksWithText) async throws(StoreError) -> Int {
        try await removeAll(command)
    }

    package func perform(_ command: RemoveCompletedTasks) async throws(StoreError) -> Int {
        try await removeAll(command)
    }

    /// Repeats a removal until no task is left for it.
    ///
    /// Each transaction removes a limited number of tasks, so that the log keeps its bound and other people's writes have
    /// their turn in between.
    private func removeAll<Removal: SQLiteCommand>(
        _ removal: Removal
    ) async throws(StoreError) -> Int where Removal.Outcome == Int {
        var total = 0
        while true {
            let count = try await writer.perform(removal)
            total += count
            guard count == WriteStatements.mostRemoved else { return total }
        }
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
