package import Basics
package import Platform
package import SQLite
import StoreEngine
import Synchronization
package import Tasks

/// Keeps tasks in a SQLite file: durable, for one server on one machine.
///
/// One thread commits all waiting writes in one transaction. Reads have threads of their own; whole lists come from a
/// cache, without waiting. A lock keeps other servers and commands that write away, so that the cache cannot become
/// stale.
package final class SQLiteTaskStore: CommandStore {
    /// The names of the threads that read what is not cached.
    private static let readers = ["reader-0", "reader-1"]

    private let engine: StoreEngine
    private let environment: SQLiteEnvironment
    private let lock: Mutex<SQLiteFileLock?>
    /// The folder that goes with the store.
    private let folder: String?

    private init(_ options: SQLiteStoreOptions, _ lock: SQLiteFileLock, in folder: String?) {
        self.lock = Mutex(lock)
        self.folder = folder
        let observer = options.observer
        var parts = EngineOptions(readers: Self.readers, writers: ["writer"])
        // A file has no connection that its operator must hear of.
        parts.observer = { if $0 != .connected { observer($0) } }
        parts.answers = options.answers
        let engine = StoreEngine(parts)
        self.engine = engine
        environment = SQLiteEnvironment(
            options: options, health: SQLiteHealth(observer: observer), cache: engine.cache)
    }

    deinit { close() }

    /// Opens the database at this path, creates it if it is missing, and brings it up to date.
    package static func open(
        path: String, options: SQLiteStoreOptions = SQLiteStoreOptions()
    ) throws(OperatorError) -> SQLiteTaskStore {
        try open(path: path, in: nil, options)
    }

    /// Opens a new database in a folder of its own, which goes when the store is closed.
    ///
    /// After a crash the folder stays among the system's temporary files.
    package static func openTemporary(options: SQLiteStoreOptions) throws(OperatorError) -> SQLiteTaskStore {
        let folder = try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            try Folder.makeTemporary("task-server")
        }
        var options = options
        let observer = options.observer
        // Nobody needs to hear that a temporary database is new.
        options.observer = { if case .created = $0 {} else { observer($0) } }
        do throws(OperatorError) {
            return try open(path: "\(folder)/tasks.db", in: folder, options)
        } catch {
            Folder.remove(folder)
            throw error
        }
    }

    private static func open(
        path: String, in folder: String?, _ options: SQLiteStoreOptions
    ) throws(OperatorError) -> SQLiteTaskStore {
        let file = SQLiteFile(path)
        let lock = try file.lock()
        let connection = try file.openForWriting(maximumPages: options.maximumPages, options.observer)
        connection.followLog()
        let writes = try file.compiled(on: connection) { connection throws(SQLiteError) in
            try SQLiteTransaction.compiled(on: connection, answers: options.answers)
        }
        let store = SQLiteTaskStore(options, lock, in: folder)
        let environment = store.environment
        var sessions: [TransferBox<any StoreSession>] = []
        for _ in readers {
            let reads = try file.compiled(on: try file.open(.readWrite)) { connection throws(SQLiteError) in
                try ReadStatements.compiled(on: connection, answers: options.answers)
            }
            sessions.append(TransferBox(SQLiteReader(reads, environment.health)))
        }
        sessions.append(TransferBox(SQLiteWriter(writes, lock, environment)))
        try store.engine.start { [sessions] number throws(SessionLoss) in
            guard let session = sessions[number].take() else { throw SessionLoss("opened before") }
            return session
        }
        return store
    }

    package var times: StoreTimes { engine.times }

    package var statistics: StoreStatistics { engine.statistics }

    package func cachedList(of owner: Owner, _ names: TaskNames) -> TaskList? {
        if case .success(let list)? = environment.cache.list(of: owner, names) { list } else { nil }
    }

    /// Reads a list; the cache keeps a whole one.
    package func read(_ query: ListTasks, _ answer: @escaping StoreAnswer<TaskList>) -> Cancellation {
        let (owner, isWhole, cache) = (query.owner, query.selection == .all, environment.cache)
        if isWhole, let known = cache.list(of: owner, query.names, in: query.place) {
            answer(known)
            return {}
        }
        return engine.list(query, answer) { shared in
            SQLiteRead { [afterRead = environment.options.afterRead] statements throws(SQLiteError) in
                // The read before this one may have been of the same list.
                if isWhole, let known = cache.list(of: owner, query.names, in: query.place) {
                    return { shared.answer(known) }
                }
                let load = isWhole ? cache.beginLoad(of: owner) : nil
                var list: TaskList?
                defer { if let load { cache.finish(load, of: owner, with: list) } }
                let result = try statements.list(query)
                cache.countRead()
                afterRead()
                list = try? result.get()
                return { shared.answer(result) }
            }
        }
    }

    package func read(_ query: FindTask, _ answer: @escaping StoreAnswer<TaskItem?>) -> Cancellation {
        let work = SQLiteRead { statements throws(SQLiteError) in
            let item = try statements.find(query)
            return { answer(.success(item)) }
        }
        return engine.call(of: query.owner, .find, answer, work)
    }

    package var commits: CommitListeners { engine.commits }

    package func read(_ query: ListChanges, _ answer: @escaping StoreAnswer<ChangesOutcome>) -> Cancellation {
        let work = SQLiteRead { statements throws(SQLiteError) in
            let result = try statements.changes(query)
            return { answer(result) }
        }
        return engine.call(of: query.owner, .list, answer, work)
    }

    package func changeNumbers(of owners: [Owner]) async throws(StoreError) -> [Owner: Int64] {
        try await outcome { answer in
            let work = SQLiteRead { statements throws(SQLiteError) in
                let numbers = try statements.changeNumbers(of: owners)
                return { answer(.success(numbers)) }
            }
            return engine.call(of: Owner(""), .find, answer, work)
        }
    }

    // Generic code looks up its types each time, so the most frequent command has code of its own.
    @_specialize(where Command == AddTask)
    package func run<Command: TaskCommand>(
        _ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>
    ) -> Cancellation {
        let work = SQLiteWrite { transaction throws(SQLiteError) in
            let (outcome, change) = try transaction.run(command)
            return (change, { answer(outcome) })
        }
        return engine.call(
            of: command.owner, .write, weight: command.weight, payload: command.payload, answer, work)
    }

    /// The check writes what an addition writes, so that a writer that hangs is noticed.
    package func check() async throws(StoreError) {
        if let damage = environment.health.damage { throw damage }
        try await outcome { (answer: @escaping StoreAnswer<Void>) in
            let work = SQLiteWrite { transaction throws(SQLiteError) in
                try transaction.probe()
                return (nil, { answer(.success(())) })
            }
            return engine.call(of: Owner(""), .write, answer, work)
        }
    }

    package func close() {
        guard let lock = lock.withLock({ $0.take() }) else { return }
        // Readers end first, because their connections would keep the log from being truncated.
        _ = engine.close([.reads])
        _ = engine.close([.writes])
        environment.cache.removeAll()
        // The connections are closed by now; only then may another server open the file.
        withExtendedLifetime(lock) {}
        if let folder { Folder.remove(folder) }
    }
}

/// The options of a SQLite store; the defaults suit a server.
package struct SQLiteStoreOptions: Sendable {
    /// Long lists take their places here while they are made and sent.
    package var answers = AnswerMemory()
    /// A closure that is called with each event, on the thread where the event happens.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }
    /// The time for which removed tasks are known, in milliseconds.
    package var removedTasksKept = RemovedTask.kept

    /// For tests: the greatest size of the database in pages of 4 KiB, as if the disk were full then.
    package var maximumPages: Int?
    /// For tests: a closure whose error makes a commit fail.
    package var beforeCommit: @Sendable () -> SQLiteError? = { nil }
    /// For tests: a closure that is called when a commit can be seen, and before its callers are answered.
    package var afterCommit: @Sendable () -> Void = {}
    /// For tests: a closure that is called when a list was read and is not cached yet.
    package var afterRead: @Sendable () -> Void = {}

    /// For tests: the time for which the log may keep the texts of a deleted owner.
    package var logEmptyingMilliseconds: UInt64 = 60_000
    /// For tests: the clock by which idempotency keys and removed tasks are forgotten.
    package var time: any TimeSource = SystemTime()

    package init() {}
}
