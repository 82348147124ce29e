import CSQLite
import SQLite
import Support
import Testing

@Suite("No transaction writes while a checkpoint reads how much of the log is copied")
struct CheckpointLockTests {
    private static let exclusive = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE

    /// Calls a body with a function that takes and releases a log's locks, and one that says whether others may write.
    private func withLocks(
        _ body: (_ lock: (Int32, Int32, Int32) -> Int32, _ writer: borrowing Connection) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tasks.db")
        let writer = try Connection(path: path, mode: .readWriteCreate)
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        var handle: OpaquePointer?
        #expect(unsafe sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, "paced") == SQLITE_OK)
        defer { unsafe sqlite3_close_v2(handle) }
        #expect(unsafe sqlite3_exec(handle, "SELECT * FROM t", nil, nil, nil) == SQLITE_OK)
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        _ = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer)
        let file = try unsafe #require(pointer)
        let lock = try unsafe #require(file.pointee.pMethods.pointee.xShmLock)
        try body({ unsafe lock(file, $0, $1, $2) }, writer)
    }

    @Test func `From the lock of checkpoints to the next lock, others cannot write`() throws {
        try withLocks { lock, writer in
            #expect(lock(1, 1, Self.exclusive) == SQLITE_OK)
            let error = #expect(throws: SQLiteError.self) { try writer.execute("BEGIN IMMEDIATE") }
            #expect(error?.kind == .busy)
            #expect(lock(7, 1, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED) == SQLITE_OK)
            try writer.execute("BEGIN IMMEDIATE; ROLLBACK")
            #expect(lock(7, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED) == SQLITE_OK)
            #expect(lock(1, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE) == SQLITE_OK)
        }
    }

    @Test func `A checkpoint that finds no place between the transactions of others begins another time`() throws {
        try withLocks { lock, writer in
            try writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
            #expect(lock(1, 1, Self.exclusive) == SQLITE_BUSY)
            try writer.execute("COMMIT")
            let pass = try writer.checkpoint()
            #expect(pass.log == pass.copied && pass.log > 0)
        }
    }
}
