package import SQLite
package import Tasks

/// The statements about idempotency keys.
package struct AttemptTable: ~Copyable {
    private let find: Statement
    private let put: Statement
    private let prune: Statement
    private let trim: Statement

    /// Compiles them.
    package static func compiled(on connection: borrowing Connection) throws(SQLiteError) -> AttemptTable {
        AttemptTable(
            find: try connection.prepare(find), put: try connection.prepare(put),
            prune: try connection.prepare(prune), trim: try connection.prepare(trim))
    }

    /// The owner's newest tasks: ids count the additions, so no row needs to be counted.
    private static let isNew = "id >= (SELECT next_id FROM owners WHERE owner = ?1) - \(IdempotencyKey.remembered)"
    private static let find = """
        SELECT fingerprint, id, text, completed, time FROM attempts
        WHERE owner = ?1 AND key = ?2 AND time > ?3 AND \(isNew)
        """
    private static let put = """
        INSERT OR REPLACE INTO attempts(owner, key, fingerprint, time, id, text, completed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """
    private static let prune = """
        DELETE FROM attempts WHERE (owner, key) IN
            (SELECT owner, key FROM attempts WHERE time <= ?1 ORDER BY time LIMIT ?2)
        """

    private static let trim = """
        DELETE FROM attempts
        WHERE owner = ?1 AND id < (SELECT next_id FROM owners WHERE owner = ?1) - \(IdempotencyKey.remembered)
        """

    /// What became of the earlier attempt of this key, if it is remembered.
    package func outcome(of attempt: IdempotencyKey, at time: Int64, owner: Owner) throws(SQLiteError) -> AddOutcome? {
        defer { find.reset() }
        try find.bind(owner.identifier, attempt.key, time - IdempotencyKey.lifetime)
        guard try find.step() else { return nil }
        guard UInt64(bitPattern: find.integer(0)) == attempt.fingerprint else { return .keyReused }
        let added = find.integer(4)
        return .repeated(
            TaskItem(
                id: find.integer(1), owner: owner, text: try TaskRow.text(find.text(2)),
                completed: find.integer(3) != 0, created: added, modified: added))
    }

    /// Remembers the task that an attempt added.
    package func put(_ attempt: IdempotencyKey, _ item: TaskItem) throws(SQLiteError) {
        try put.run(
            item.owner.identifier, attempt.key, Int64(bitPattern: attempt.fingerprint), item.created, item.id,
            item.text.value, item.completed)
    }

    /// Forgets what is beyond an owner's newest tasks.
    package func trim(of owner: Owner) throws(SQLiteError) {
        try trim.run(owner.identifier)
    }

    /// Forgets some of what is older than a day at this time.
    package func prune(at time: Int64, atMost limit: Int64) throws(SQLiteError) {
        try prune.run(time - IdempotencyKey.lifetime, limit)
    }
}
