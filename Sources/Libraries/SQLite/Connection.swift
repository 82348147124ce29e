private import CSQLite

/// A connection to a database file, used by one thread at a time.
///
/// SQLite runs in its multi-thread mode (`SQLITE_OPEN_NOMUTEX`): a connection may move between threads, but two may not
/// use it at once. The compiler enforces the rule, as the type cannot be copied; share it inside a `Mutex`.
@safe
package struct Connection: ~Copyable {
    /// The operations that are allowed on the file.
    package enum Mode: Sendable {
        /// Reading and writing; the file is made if it is missing.
        case readWriteCreate
        /// Reading and writing a file that exists.
        case readWrite
        case readOnly

        fileprivate var flags: Int32 {
            switch self {
            case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        }
    }

    private let handle: OpaquePointer
    /// The number of pages of the log, which SQLite counts here.
    private let length: UnsafeMutablePointer<Int32>

    /// Registers, once for all connections, the layer that leaves nothing in the unused space of database files.
    private static let cleanFiles = csqlite_register()

    /// Opens the file of this path.
    package init(path: String, mode: Mode) throws(SQLiteError) {
        unsafe handle = try Self.open(path, mode.flags)
        unsafe length = .allocate(capacity: 1)
        unsafe length.initialize(to: 0)
    }

    deinit {
        // Version 2 waits for statements that are still alive, so the order in which they end does not matter.
        unsafe sqlite3_close_v2(handle)
        unsafe length.deallocate()
    }

    private static func open(_ path: String, _ flags: Int32) throws(SQLiteError) -> OpaquePointer {
        var handle: OpaquePointer?
        let all = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe cleanFiles == SQLITE_OK ? sqlite3_open_v2(path, &handle, all, "clean") : cleanFiles
        guard code == SQLITE_OK, let opened = unsafe handle else {
            // A failed open leaves a handle that carries the message and must be closed.
            let error = unsafe SQLiteError(of: handle, code: code)
            unsafe sqlite3_close_v2(handle)
            throw error
        }
        return unsafe opened
    }

    /// Runs statements without parameters.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe SQLiteError(of: handle, code: code) }
    }

    /// Compiles one statement, to be run many times.
    package func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil)
        guard code == SQLITE_OK else { throw unsafe SQLiteError(of: handle, code: code) }
        guard let compiled = unsafe statement else {
            throw SQLiteError(code: SQLITE_MISUSE, message: "no statement in the text")
        }
        return unsafe SQLiteStatement(takingOwnershipOf: compiled)
    }

    /// Returns the integer in the first column of the first row of a statement; nil without rows.
    package func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Sets how long a statement waits for locks of other connections before it fails with `.busy`.
    package func setBusyTimeout(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Whether a transaction is open; some errors end it by themselves.
    package var isInTransaction: Bool {
        unsafe sqlite3_get_autocommit(handle) == 0
    }

    /// Whether the file can only be read; SQLite falls back to reading without an error.
    package var isReadOnly: Bool {
        unsafe sqlite3_db_readonly(handle, "main") == 1
    }

    /// Copies the log into the database file; returns whether all is copied, so that the next commit begins it anew.
    ///
    /// It waits for the readers of older states as long as statements wait for locks; then it has copied a part.
    package func checkpoint(cutting: Bool = false) throws(SQLiteError) -> Bool {
        guard try integer("PRAGMA wal_checkpoint(\(cutting ? "TRUNCATE" : "RESTART"))") == 0 else { return false }
        unsafe length.pointee = 0
        return true
    }

    /// Copies nothing at the end of a transaction, and counts the pages of the log.
    package func followLog() {
        let note: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
            length, _, _, pages in
            unsafe length?.storeBytes(of: pages, as: Int32.self)
            return SQLITE_OK
        }
        _ = unsafe sqlite3_wal_hook(handle, note, length)
    }

    /// How many pages the log had after the last commit of this connection, if ``followLog()`` was called.
    package var logLength: Int { unsafe Int(length.pointee) }

    /// How many rows the last statement added, changed or removed.
    package var changes: Int {
        unsafe Int(sqlite3_changes64(handle))
    }
}

extension Connection {
    /// Runs a body that only reads, all of it on one state of the database.
    package func snapshot<Outcome>(_ body: () throws(SQLiteError) -> Outcome) throws(SQLiteError) -> Outcome {
        try execute("BEGIN")
        defer { rollBack() }
        return try body()
    }

    /// Ends the open transaction without its changes, unless the error has ended it already.
    package func rollBack() {
        guard isInTransaction else { return }
        // A rollback that fails leaves nothing to do: SQLite has rolled back by itself, or rolls back at the close.
        _ = try? execute("ROLLBACK")
    }
}
