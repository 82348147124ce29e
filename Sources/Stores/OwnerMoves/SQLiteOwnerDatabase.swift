import Basics
import Platform
import SQLite
import SQLiteStore
import Tasks

/// The connection that moves owners in a SQLite file, and its statements.
final class SQLiteOwnerDatabase: OwnerDatabase {
    private let state: Statement
    private let owners: Statement
    private let forget: Statement
    private let tasks: Statement
    private let keys: Statement
    private let dropKeys: Statement
    private let raise: Statement
    private let empty: Statement
    private let connection: Connection
    private let time = SystemTime()
    /// Keeps servers away until the move has ended: a server would not notice that its cached lists are outdated.
    private let lock: SQLiteFileLock?

    /// Opens a file that exists and is up to date; a server may run on the file if it is only read.
    init(_ file: SQLiteFile, onlyReads: Bool) throws(OperatorError) {
        // Opened before the lock is taken as well, because the lock makes a file that is missing.
        let reader = try Self.open(file, .readOnly)
        if onlyReads {
            connection = reader
            lock = nil
        } else {
            _ = consume reader
            lock = try rethrowing(as: OperatorError.ofWriter) { () throws(StoreOpenError) in
                try file.lock()
            }
            connection = try Self.open(file, .readWrite)
        }
        do throws(SQLiteError) {
            if !onlyReads { try connection.execute("PRAGMA synchronous = FULL") }
            state = try connection.prepare(Self.selectState)
            owners = try connection.prepare(
                "SELECT owner, tasks FROM owners WHERE owner > ?1 AND tasks > 0 ORDER BY owner LIMIT 1000")
            forget = try connection.prepare("DELETE FROM attempts WHERE owner IN (?1, ?2) AND time <= ?3")
            tasks = try connection.prepare("UPDATE tasks SET owner = ?2, id = id + ?3 WHERE owner = ?1")
            keys = try connection.prepare(
                """
                INSERT OR IGNORE INTO attempts(owner, \(IdempotencyRow.columns))
                SELECT ?2, key, fingerprint, time, id + ?3, text, completed, \(TaskDetail.columns)
                FROM attempts WHERE owner = ?1
                """)
            dropKeys = try connection.prepare("DELETE FROM attempts WHERE owner = ?1")
            raise = try connection.prepare(
                """
                INSERT INTO owners(owner, next_id, tasks) VALUES (?1, ?2, ?3)
                ON CONFLICT(owner) DO UPDATE SET next_id = excluded.next_id, tasks = tasks + excluded.tasks
                """)
            empty = try connection.prepare("UPDATE owners SET tasks = 0 WHERE owner = ?1")
        } catch {
            throw OperatorError(error)
        }
    }

    private static func open(_ file: SQLiteFile, _ mode: Connection.Mode) throws(OperatorError) -> Connection {
        try rethrowing(as: OperatorError.init) { () throws(StoreOpenError) in try file.open(mode) }
    }

    private static let selectState = """
        SELECT next_id, tasks, (SELECT min(id) FROM (
            SELECT min(id) AS id FROM tasks WHERE owner = ?1
            UNION ALL SELECT min(id) FROM attempts WHERE owner = ?1 AND time > ?2))
        FROM owners WHERE owner = ?1
        """

    func states(of owners: [Owner]) throws(OperatorError) -> [Owner: OwnerState] {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            var states: [Owner: OwnerState] = [:]
            let expiry = expiry
            for owner in owners { states[owner] = try state(of: owner, expiry) }
            return states
        }
    }

    /// Keys of this time and earlier are expired.
    private var expiry: Int64 { time.wallMilliseconds - IdempotencyKey.lifetime }

    private func state(of owner: Owner, _ expiry: Int64) throws(SQLiteError) -> OwnerState? {
        defer { state.reset() }
        try state.bind(owner.identifier, expiry)
        guard try state.step() else { return nil }
        return try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try OwnerState(
                storedNext: state.integer(0), tasks: state.integer(1), first: state.isNull(2) ? nil : state.integer(2))
        }
    }

    func ownersWithTasks(after owner: Owner) throws(OperatorError) -> [(owner: Owner, tasks: Int64)] {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            defer { owners.reset() }
            try owners.bind(owner.identifier)
            var found: [(owner: Owner, tasks: Int64)] = []
            while try owners.step() { found.append((Owner(owners.text(0)), owners.integer(1))) }
            return found
        }
    }

    func move(_ pair: OwnerPair, merging: Bool) throws(OperatorError) -> MoveOutcome {
        try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in try moveInTransaction(pair, merging: merging) }
        }
    }

    private func moveInTransaction(_ pair: OwnerPair, merging: Bool) throws(SQLiteError) -> MoveOutcome {
        let (from, to) = (pair.old.identifier, pair.new.identifier)
        let expiry = expiry
        guard let old = try state(of: pair.old, expiry) else { return .nothing }
        let new = try state(of: pair.new, expiry) ?? OwnerState()
        // A key that is no longer remembered must not keep a newer one of the same name away.
        try forget.run(from, to, expiry)
        let move = try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try OwnerMove(old, to: new, merging: merging)
        }
        if case .rewrite(let offset, let next) = move {
            try tasks.run(from, to, offset)
            guard connection.changes == Int(old.tasks) else {
                throw .corrupt("an owner has \(connection.changes) tasks, and the owner's row counts \(old.tasks)")
            }
            try keys.run(from, to, offset)
            try dropKeys.run(from)
            try raise.run(to, next, old.tasks)
            // The row stays: it keeps the ids of the old owner from being given again.
            try empty.run(from)
        }
        return move.outcome(old, new)
    }
}
