package import Basics
import Platform
package import SQLite
package import Tasks

/// A database file: checked, opened as this store needs it, and brought up to date.
package struct SQLiteFile {
    package let path: String

    /// The time that a statement waits for locks of other connections.
    static let busyMilliseconds: Int32 = 5000

    /// The file at a path; links are followed, so that two names of one file share one lock.
    package init(_ path: String) {
        self.path = File.resolved(path)
    }

    /// The right to be the only server, or the only command that writes, on the file.
    package func lock() throws(OperatorError) -> SQLiteFileLock {
        if let kind = File.otherKind(path) { throw .notAFile(path, kind: kind) }
        return try SQLiteFileLock(path)
    }

    /// A connection that may write to a file that is locked; brings the file up to date.
    package func openForWriting(
        maximumPages: Int?, _ observer: (StoreEvent) -> Void
    ) throws(OperatorError) -> Connection {
        let connection = try connectForWriting()
        let version = try checkedVersion(of: connection)
        try rethrowing(as: openError) { () throws(SQLiteError) in
            // With FULL a commit is on the disk when it returns. The log is cut back to 64 MiB after a long backup.
            // Deleted texts are overwritten.
            try connection.execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;
                PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON
                """)
            if version < SQLiteSchema.known {
                try SQLiteSchema.migrate(connection, from: version)
                observer(.upgraded(from: version, to: SQLiteSchema.known))
            }
            if let maximumPages { try connection.execute("PRAGMA max_page_count = \(maximumPages)") }
        }
        return connection
    }

    /// A connection to a file that another connection has brought up to date, or to a copy of any version.
    package func open(_ mode: Connection.Mode, anyVersion: Bool = false) throws(OperatorError) -> Connection {
        guard File.exists(path) else { throw .missingDatabase(path) }
        if let kind = File.otherKind(path) { throw .notAFile(path, kind: kind) }
        // Under another name SQLite would not find the log of a running server.
        guard File.names(path) ?? 1 <= 1 else { throw .linkedDatabase(path) }
        let connection = try connect(mode)
        let version = try checkedVersion(of: connection)
        guard version > 0 else { throw .foreignDatabase(path) }
        guard anyVersion || version == SQLiteSchema.known else {
            throw .olderDatabase(path, version: version, known: SQLiteSchema.known)
        }
        return connection
    }

    private func connectForWriting() throws(OperatorError) -> Connection {
        // SQLite opens a log that it may not write without an error, and refuses every change later.
        for file in ["", "-wal", "-shm"].map({ path + $0 }) {
            if let obstacle = File.obstacle(toWriting: file) { throw .unwritableDatabase(file, obstacle) }
        }
        let connection = try connect(.readWrite)
        guard !connection.isReadOnly else { throw .unwritableDatabase(path, "it is read-only") }
        return connection
    }

    private func connect(_ mode: Connection.Mode) throws(OperatorError) -> Connection {
        let connection = try rethrowing(as: openError) { () throws(SQLiteError) in
            try Connection(path: path, mode: mode)
        }
        connection.setBusyTimeout(milliseconds: Self.busyMilliseconds)
        return connection
    }

    /// The version of the tables, 0 in an empty file, if this program may use the file.
    private func checkedVersion(of connection: borrowing Connection) throws(OperatorError) -> Int {
        let found = try rethrowing(as: openError) { () throws(SQLiteError) in try SQLiteSchema.version(of: connection) }
        guard let version = found else { throw .foreignDatabase(path) }
        guard version <= SQLiteSchema.known else {
            throw .newerDatabase(path, version: version, known: SQLiteSchema.known)
        }
        return version
    }

    /// Prepares statements; not by `rethrowing`, because its closure could not consume the connection.
    func compiled<Statements: ~Copyable>(
        on connection: consuming Connection, _ compile: (consuming Connection) throws(SQLiteError) -> Statements
    ) throws(OperatorError) -> Statements {
        do throws(SQLiteError) {
            return try compile(connection)
        } catch {
            throw openError(error)
        }
    }

    private func openError(_ error: SQLiteError) -> OperatorError { OperatorError(opening: path, error) }
}

extension Connection {
    /// Copies the log as ``checkpoint(cutting:)`` does, and waits up to `patience` milliseconds for readers.
    func checkpoint(waiting patience: Int32, cutting: Bool = false) throws(SQLiteError) -> Bool {
        setBusyTimeout(milliseconds: patience)
        defer { setBusyTimeout(milliseconds: SQLiteFile.busyMilliseconds) }
        return try checkpoint(cutting: cutting)
    }
}

// MARK: The check of a file

extension SQLiteFile {
    /// Opens the file as a start does, except that its tables are neither made nor brought up to date.
    ///
    /// Returns a line that says in which state the file is.
    package func check() throws(OperatorError) -> String {
        guard File.exists(path) else {
            guard let obstacle = File.obstacle(toMaking: path) else {
                return "\(path) will be created at the first start"
            }
            throw OperatorError("\(path) does not exist and cannot be created: \(obstacle) (TASKS_DATABASE)")
        }
        do throws(OperatorError) {
            let lock = try lock()
            // The lock is given up when the connections are closed, see ``Platform/FileLock``.
            defer { withExtendedLifetime(lock) {} }
            return "\(path) \(try state())"
        } catch {
            guard error.isDatabaseLocked else { throw error }
            return "\(path) is in use by a task-server that runs"
        }
    }

    private func state() throws(OperatorError) -> String {
        let connection = try connectForWriting()
        let version = try checkedVersion(of: connection)
        if version == 0, File.obstacle(toMaking: path) != nil {
            throw .unwritableDatabase(path, "no file can be made beside it")
        }
        return try compiled(on: connection) { connection throws(SQLiteError) in
            switch version {
            case 0: return "is empty; tables will be created at the first start"
            case SQLiteSchema.known:
                _ = try SQLiteTransaction.compiled(on: connection, answers: AnswerMemory())
                return "can be read and written"
            default:
                _ = try connection.integer("SELECT count(*) FROM sqlite_master")
                return "can be read and written; tables will be brought up to date at the next start"
            }
        }
    }
}

extension OperatorError {
    /// The error for a file that does not open.
    fileprivate init(opening path: String, _ error: SQLiteError) {
        let failure = OperatorError.unopenedDatabase(path, error.description)
        self =
            switch error.kind {
            case .notADatabase:
                OperatorError(
                    "\(path) is not a SQLite database", advice: "move it away, or give another TASKS_DATABASE")
            case .readOnly: .unwritableDatabase(path, error.description)
            case .cannotOpen: failure.advising("check the path and its permissions")
            case .full: .fullDatabase(path)
            case .busy, .inputOutput, .corrupt, .constraint, .other: failure
            }
    }

    /// The error of a command, one of whose statements failed.
    package init(_ error: SQLiteError) { self = error.kind == .full ? .diskFull : .databaseFailed(error.description) }
}
