package import Tasks
import Platform
package import SQLite

/// A database file: found, checked, brought up to date, and opened in the way of this store.
package struct StoreFile {
    package let path: String

    /// The file behind a path; links are followed, so that two names of one file share one lock.
    package init(_ path: String) {
        self.path = File.resolved(path)
    }

    /// The right to be the only server on it.
    package func lock() throws(StoreOpenError) -> DatabaseFile {
        if let kind = File.otherKind(path) { throw .notAFile(path: path, kind: kind) }
        return try DatabaseFile(path)
    }

    /// A connection that may write, to a file that is locked, and up to date then.
    package func openForWriting(
        maximumPages: Int?, _ observer: (StoreEvent) -> Void
    ) throws(StoreOpenError) -> Connection {
        let connection = try connect(.readWrite)
        guard !connection.isReadOnly else { throw .unwritable(path: path, reason: "it is read-only") }
        let state = try recognized(connection)
        try translating { () throws(SQLiteError) in
            // FULL: a commit is on the disk when it returns. The log is cut back to 64 MiB after a long backup.
            try connection.execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;
                PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF
                """)
            try migrate(connection, from: state, observer)
            if let maximumPages { try connection.execute("PRAGMA max_page_count = \(maximumPages)") }
        }
        return connection
    }

    /// A connection to a file that another connection has brought up to date.
    package func open(_ mode: Connection.Mode) throws(StoreOpenError) -> Connection {
        guard File.exists(path) else { throw .missing(path: path) }
        if let kind = File.otherKind(path) { throw .notAFile(path: path, kind: kind) }
        // By another name SQLite would not find the log of a server that runs.
        guard File.names(path) ?? 1 <= 1 else { throw .hasOtherNames(path: path) }
        let connection = try connect(mode)
        switch try recognized(connection) {
        case .empty, .foreign: throw .foreign(path: path)
        case .ours(Schema.version): return connection
        case .ours(let version): throw .outdated(path: path, version: version, known: Schema.version)
        }
    }

    private func connect(_ mode: Connection.Mode) throws(StoreOpenError) -> Connection {
        let connection = try translating { () throws(SQLiteError) in try Connection(path: path, mode: mode) }
        connection.setBusyTimeout(milliseconds: 5000)
        return connection
    }

    /// What the file is, if this program may use it.
    private func recognized(_ connection: borrowing Connection) throws(StoreOpenError) -> Schema.State {
        let state: Schema.State
        do throws(SQLiteError) {
            state = try Schema.state(of: connection)
        } catch {
            throw StoreOpenError(error, path: path)
        }
        switch state {
        case .empty: return state
        case .foreign: throw .foreign(path: path)
        case .ours(let version):
            guard version <= Schema.version else {
                throw .fromTheFuture(path: path, version: version, known: Schema.version)
            }
            return state
        }
    }

    private func migrate(
        _ connection: borrowing Connection, from state: Schema.State, _ observer: (StoreEvent) -> Void
    ) throws(SQLiteError) {
        switch state {
        case .empty:
            try Schema.migrate(connection, from: 0)
            observer(.created(version: Schema.version))
        case .ours(let version) where version < Schema.version:
            try Schema.migrate(connection, from: version)
            observer(.migrated(from: version, to: Schema.version))
        case .ours, .foreign: break
        }
    }

    /// Runs statements, with errors in the operator's words.
    package func translating<Outcome: ~Copyable>(
        _ body: () throws(SQLiteError) -> Outcome
    ) throws(StoreOpenError) -> Outcome {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw StoreOpenError(error, path: path)
        }
    }
}
