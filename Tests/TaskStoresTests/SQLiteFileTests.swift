import Glibc
import Platform
import SQLite
import Support
import Synchronization
import TaskStores
import Tasks
import Testing

@Suite("A SQLite store and its file")
struct SQLiteFileTests {
    private let alice = Owner("alice")
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file("tasks.db") }

    @Test("what was answered is there after a reopen: tasks, ids, keys, counts")
    func reopen() async throws {
        let key = IdempotencyKey(key: "k", fingerprint: 1)
        let now = SystemTime().wallMilliseconds
        let first = try SQLiteTaskStore.open(path: path)
        let kept = try await first.added("kept", at: now, of: alice)
        let keyed = try await first.add("keyed", at: now, attempt: key, of: alice)
        #expect(try await first.remove(2, of: alice))
        first.close()

        let second = try SQLiteTaskStore.open(path: path)
        defer { second.close() }
        #expect(try await second.lists([kept], of: alice))
        guard case .added(let item) = keyed else { throw UnexpectedOutcome(outcome: keyed) }
        #expect(try await second.add("keyed", at: now, attempt: key, of: alice) == .repeated(item))
        #expect(try await second.added("new", at: now, of: alice).id == 3)
        #expect(try await second.add("more", limit: 2, of: alice) == .full)
    }

    @Test("an unclosed store's answers are in the file")
    func copied() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        // What another process would find after a kill: the log is read back, nothing was closed.
        for suffix in ["", "-wal"] {
            let bytes = try File.read(path + suffix)
            try File.replace(folder.file("copy.db") + suffix, with: bytes)
        }
        let copy = try SQLiteTaskStore.open(path: folder.file("copy.db"))
        defer { copy.close() }
        #expect(try await copy.lists([item], of: alice))
    }

    @Test("a second server is kept away, by any name of the file, until the first ends")
    func locked() async throws {
        let first = try SQLiteTaskStore.open(path: path)
        let link = folder.file("link.db")
        #expect(symlink(path, link) == 0)
        for name in [path, link] {
            let error = #expect(throws: StoreOpenError.self) { _ = try SQLiteTaskStore.open(path: name) }
            #expect(error == .locked(path: path))
            #expect(error?.words.contains("another task-server uses the database \(path)") == true)
        }
        first.close()
        try SQLiteTaskStore.open(path: link).close()
    }

    @Test("only its owner may read the file")
    func permissions() throws {
        try SQLiteTaskStore.open(path: path).close()
        var facts = stat()
        #expect(stat(path, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600)
    }

    @Test("a close leaves one file, without a log")
    func checkpointed() async throws {
        let events = Mutex<[StoreEvent]>([])
        var options = SQLiteStoreOptions()
        options.observer = { event in events.withLock { $0.append(event) } }
        let store = try SQLiteTaskStore.open(path: path, options: options)
        _ = try await store.added("x", of: alice)
        _ = try await store.list(.all, of: alice)
        store.close()
        #expect(events.withLock { $0 } == [.created(version: 2), .closed(checkpointed: true)])
        #expect(!File.exists(path + "-wal"))
    }

    @Test("a database from the future is refused and stays as it was")
    func future() throws {
        try SQLiteTaskStore.open(path: path).close()
        try Connection(path: path, mode: .readWrite).execute("PRAGMA user_version = 99")
        let error = #expect(throws: StoreOpenError.self) { _ = try SQLiteTaskStore.open(path: path) }
        #expect(error == .fromTheFuture(path: path, version: 99, known: 2))
        #expect(error?.words.contains("version 99, written by a newer task-server") == true)
        #expect(try Connection(path: path, mode: .readOnly).integer("PRAGMA user_version") == 99)
    }

    @Test("the database of another program is refused and stays as it was")
    func foreign() throws {
        try Connection(path: path, mode: .readWriteCreate).execute("CREATE TABLE theirs(a)")
        #expect(throws: StoreOpenError.foreign(path: path)) { _ = try SQLiteTaskStore.open(path: path) }
        let tables = try Connection(path: path, mode: .readOnly).integer("SELECT count(*) FROM sqlite_master")
        #expect(tables == 1)
    }

    @Test("a file that is no database is refused and stays as it was")
    func notADatabase() throws {
        let words = Array(String(repeating: "not a database ", count: 100).utf8)
        try File.replace(path, with: words)
        #expect(throws: StoreOpenError.notADatabase(path: path)) { _ = try SQLiteTaskStore.open(path: path) }
        #expect(try File.read(path) == words)
    }

    @Test("paths that lead nowhere, to a folder, to where nobody may write")
    func paths() throws {
        for path in ["/nonexistent/tasks.db", folder.path, "/proc/tasks.db"] {
            let error = #expect(throws: StoreOpenError.self) { _ = try SQLiteTaskStore.open(path: path) }
            guard case .unwritable(path, _) = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
        }
        rmdir(folder.path + ".lock")
        unlink(folder.path + ".lock")
    }
}
