import Basics
import JSON
import TaskArchive
import SQLiteStore
import Glibc
import Platform
import SQLite
import Support
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

    @Test func `Tasks, ids, keys and counts are the same after the store is opened again`() async throws {
        let key = IdempotencyKey(key: "k", fingerprint: 1)
        let now = SystemTime().wallMilliseconds
        let first = try SQLiteTaskStore.open(path: path)
        let kept = try await first.added("kept", at: now, of: alice)
        let keyed = try await first.added("keyed", at: now, key: key, of: alice)
        #expect(try await first.remove(2, of: alice))
        first.close()

        let second = try SQLiteTaskStore.open(path: path)
        defer { second.close() }
        #expect(try await second.lists([kept], of: alice))
        #expect(try await second.add("keyed", at: now, key: key, of: alice) == .repeated(keyed))
        #expect(try await second.added("new", at: now, of: alice).id == 3)
        #expect(try await second.add("more", limit: 2, of: alice) == .full)
    }

    @Test func `Answered writes are in the files of a store that was not closed`() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        // Another process would find this after a kill: the log is there, and nothing was closed.
        for suffix in ["", "-wal"] {
            let bytes = try File.read(path + suffix)
            try File.replace(folder.file("copy.db") + suffix, with: bytes)
        }
        let copy = try SQLiteTaskStore.open(path: folder.file("copy.db"))
        defer { copy.close() }
        #expect(try await copy.lists([item], of: alice))
    }

    @Test func `A second store is refused, by any name of the file, until the first is closed`() async throws {
        let first = try SQLiteTaskStore.open(path: path)
        let link = folder.file("link.db")
        #expect(symlink(path, link) == 0)
        for name in [path, link] {
            let error = #expect(throws: OperatorError.self) { _ = try SQLiteTaskStore.open(path: name) }
            #expect(error == .lockedDatabase(path))
            #expect(error?.message.contains("another task-server uses the database \(path)") == true)
        }
        first.close()
        try SQLiteTaskStore.open(path: link).close()
    }

    @Test func `Only its owner may read the file`() throws {
        try SQLiteTaskStore.open(path: path).close()
        var facts = stat()
        #expect(stat(path, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600)
    }

    @Test func `A closed store leaves one file, without a log`() async throws {
        let events = Recorded<StoreEvent>()
        let store = try SQLiteTaskStore.open(path: path) { $0.observer = events.append }
        _ = try await store.added("x", of: alice)
        _ = try await store.list(.all, of: alice)
        store.close()
        #expect(events.all == [.created(version: SQLiteSchema.known), .closed(checkpointed: true)])
        #expect(!File.exists(path + "-wal"))
    }

    @Test(
        "A file of a newer program, of another one, or of none is refused and stays as it was",
        arguments: [
            "PRAGMA user_version = 99", "PRAGMA user_version = -1", "PRAGMA user_version = -2147483648",
            "PRAGMA user_version = 0; PRAGMA application_id = 0", nil,
        ])
    func foreign(statements: String?) throws {
        if let statements {
            try SQLiteTaskStore.open(path: path).close()
            try Connection(path: path, mode: .readWrite).execute(statements)
        } else {
            try File.replace(path, with: Array(String(repeating: "not a database ", count: 100).utf8))
        }
        let bytes = try File.read(path)
        let error = #expect(throws: OperatorError.self) { _ = try SQLiteTaskStore.open(path: path) }
        if statements?.hasSuffix("99") == true {
            #expect(error == .newerDatabase(path, version: 99, known: SQLiteSchema.known))
        } else if statements == nil {
            #expect(error?.failure == "\(path) is not a SQLite database")
        } else {
            #expect(error == .foreignDatabase(path))
        }
        #expect(try File.read(path) == bytes)
    }

    @Test func `A folder, a pipe, a socket and a device are refused at once`() throws {
        let (pipe, socket) = (folder.file("pipe"), folder.file("socket"))
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(mknod(socket, S_IFSOCK | 0o600, 0) == 0)
        for (path, kind) in [
            (folder.path, "a folder"), (pipe, "a pipe"), (socket, "a socket"), ("/dev/zero", "a device"),
        ] {
            let error = #expect(throws: OperatorError.self) { _ = try SQLiteTaskStore.open(path: path) }
            #expect(error == .notAFile(path, kind: kind))
            #expect(error?.message == "\(path) is \(kind), not a file; give another TASKS_DATABASE")
            #expect(throws: OperatorError.notAFile(path, kind: kind)) {
                try SQLiteFile(path).backup(to: folder.file("copy.db"))
            }
        }
    }

    @Test func `A file with two names is refused by both, for servers and for copies`() async throws {
        try SQLiteTaskStore.open(path: path).close()
        let other = folder.file("other.db")
        #expect(link(path, other) == 0)
        for name in [path, other] {
            #expect(throws: OperatorError.linkedDatabase(name)) { _ = try SQLiteTaskStore.open(path: name) }
            #expect(throws: OperatorError.linkedDatabase(name)) {
                try TaskDatabase.sqlite(name).countTasks()
            }
        }
        #expect(unlink(other) == 0)
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        #expect(link(path, other) == 0)
        #expect(throws: OperatorError.linkedDatabase(other)) { _ = try SQLiteTaskStore.open(path: other) }
    }

    @Test func `A lock of the file itself refuses servers that reach it through another mount`() throws {
        let lock = try FileLock(path: path, .databaseByte)
        let error = #expect(throws: OperatorError.self) { _ = try SQLiteTaskStore.open(path: path) }
        #expect(error == .lockedDatabase(path))
        _ = consume lock
        try SQLiteTaskStore.open(path: path).close()
    }

    /// How a file may disappear from its place.
    enum Move: CaseIterable, Sendable {
        case removed, replaced, renamed, logRemoved
    }

    @Test(arguments: Move.allCases)
    func `A file that is no longer in its place is neither read nor written`(move: Move) async throws {
        let events = Recorded<StoreEvent>()
        let store = try SQLiteTaskStore.open(path: path) { $0.observer = events.append }
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        #expect(try await store.lists([item], of: alice))
        // The writer has seen the log by now: it looks at the files before its first write.
        switch move {
        case .removed: #expect(unlink(path) == 0)
        case .replaced: try File.replace(path, with: [])
        case .renamed: #expect(rename(path, folder.file("away.db")) == 0)
        case .logRemoved: #expect(unlink(path + "-wal") == 0)
        }
        if move == .removed || move == .replaced {
            // The refusal comes at once, because no write may be acknowledged that the next start would not find.
            await #expect(performing: { try await store.added("y", of: alice) }, throws: Self.isDisplaced)
        }
        await eventually { store.cachedList(of: alice, .both) == nil }
        await #expect(performing: { try await store.added("y", of: alice) }, throws: Self.isDisplaced)
        await #expect(performing: { try await store.check() }, throws: Self.isDisplaced)
        await #expect(performing: { try await store.list(.all, of: alice) }, throws: Self.isDisplaced)
        await #expect(performing: { try await store.find(1, of: alice) }, throws: Self.isDisplaced)
        #expect(events.all.count { if case .displaced = $0 { true } else { false } } == 1)
        guard move == .renamed else { return }
        #expect(rename(folder.file("away.db"), path) == 0)
        await eventually { events.all.contains(.replaced) }
        #expect(try await store.lists([item], of: alice))
    }

    @Test func `The checkpoint of another program is no overwriting, and a write without one is`() async throws {
        let events = Recorded<StoreEvent>()
        let store = try SQLiteTaskStore.open(path: path) { $0.observer = events.append }
        defer { store.close() }
        func isDisplaced() -> Bool { events.all.contains { if case .displaced = $0 { true } else { false } } }
        let other = try Connection(path: path, mode: .readWrite)
        for text in ["a", "b", "c"] {
            _ = try await store.added(text, of: alice)
            // The watch has seen the file twice.
            try await Task.sleep(for: .milliseconds(2300))
            try other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try await Task.sleep(for: .milliseconds(2300))
        #expect(!isDisplaced())
        let file = open(path, O_WRONLY)
        #expect(pwrite(file, "SQLite", 6, 0) == 6)
        await eventually { isDisplaced() }
        await #expect(performing: { try await store.check() }, throws: { "\($0)".contains("was overwritten") })
        // Closed last, because the locks of SQLite end with it.
        close(file)
    }

    private static func isDisplaced(_ error: any Error) -> Bool {
        guard case .unavailable(let reason) = error as? StoreError else { return false }
        return reason.contains("was removed, moved or replaced while the server runs")
    }

    @Test
    func `A list that lost tasks to a damaged page is not answered, and the check of the store fails`() async throws {
        let first = try SQLiteTaskStore.open(path: path)
        for number in 0..<300 {
            _ = try await first.added("task \(number) " + String(repeating: "x", count: 60), of: alice)
        }
        let bobs = try await first.added("x", of: Owner("bob"))
        first.close()
        try breakPage()
        let events = Recorded<StoreEvent>()
        let store = try SQLiteTaskStore.open(path: path) { $0.observer = events.append }
        try await store.check()
        let isBroken = { (error: any Error) in if case .broken = error as? StoreError { true } else { false } }
        for _ in 0..<2 { await #expect(performing: { try await store.list(.all, of: alice) }, throws: isBroken) }
        #expect(events.all.count { if case .damaged = $0 { true } else { false } } == 1)
        await #expect(performing: { try await store.check() }, throws: isBroken)
        #expect(try await store.lists([bobs], of: Owner("bob")))
        #expect(throws: OperatorError.self) { try TaskDatabase.sqlite(path).lines() }
        store.close()
        // The next start looks again.
        let next = try SQLiteTaskStore.open(path: path)
        defer { next.close() }
        try await next.check()
    }

    /// Leaves a leaf of the table of tasks a single row, as a disk that loses writes may: SQLite finds no error in it.
    private func breakPage() throws {
        var bytes = try File.read(path)
        let marks = Array("task 150 ".utf8)
        let row = try #require(bytes.indices.first { bytes[$0...].starts(with: marks) })
        let page = row / 4096 * 4096
        // A leaf of an index, from which the number of cells is taken.
        #expect(bytes[page] == 10)
        (bytes[page + 3], bytes[page + 4]) = (0, 1)
        try File.replace(path, with: bytes)
    }

    @Test func `The check of a store needs the room that an addition needs`() async throws {
        let store = try SQLiteTaskStore.open(path: path) { $0.maximumPages = 40 }
        defer { store.close() }
        try await store.check()
        let large = String(repeating: "x", count: TaskText.longest)
        let details = TaskDetails([.notes: .string(String(repeating: "x", count: TaskDetail.notes.longest))])
        var last: Int64 = 0
        while let item = try? await store.added(large, details: details, of: alice) { last = item.id }
        await #expect(throws: StoreError.full) { try await store.check() }
        #expect(try await store.remove(last, of: alice))
        try await store.check()
        #expect(try !TaskDatabase.sqlite(path).lines().contains { $0.contains(#""owner":"""#) })
    }

    @Test func `The check of a store fails while another program holds the lock`() async throws {
        let store = try SQLiteTaskStore.open(path: path)
        defer { store.close() }
        let other = try Connection(path: path, mode: .readWrite)
        // The store writes now and then by itself.
        other.setBusyTimeout(milliseconds: 10_000)
        try other.execute("BEGIN IMMEDIATE")
        // On a busy machine the check may have waited for ten seconds before its turn.
        let isRefused = { (error: any Error) in error.isUnavailable || error as? StoreError == .overloaded }
        await #expect(performing: { try await store.check() }, throws: isRefused)
        other.rollBack()
        try await store.check()
    }
}
