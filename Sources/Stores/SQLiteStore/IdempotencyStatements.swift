import Basics
package import SQLite
package import Tasks

/// The columns of the record of an idempotency key (table `attempts`) in the order in which every statement names them.
package enum IdempotencyRow {
    /// The number of these columns.
    ///
    /// What a statement selects in addition follows them.
    package static let count = 6 + TaskDetails.parameterCount
    package static let columns = "key, fingerprint, time, id, text, completed, \(TaskDetail.columns)"

    /// The record in the current row of a statement.
    package static func record(
        in row: borrowing Statement, of owner: Owner
    ) throws(SQLiteError) -> IdempotencyRecord {
        let details = try TaskRow.details(in: row, from: 6)
        return try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try IdempotencyRecord(
                storedKey: row.text(0), fingerprint: row.integer(1), time: row.integer(2), id: row.integer(3),
                owner: owner, text: row.text(4), completed: row.integer(5) != 0, details: details)
        }
    }
}

/// The statements about idempotency keys.
package struct IdempotencyStatements: ~Copyable {
    private let find: Statement
    private let put: Statement
    private let prune: Statement
    private let trim: Statement

    package static func compiled(on connection: borrowing Connection) throws(SQLiteError) -> IdempotencyStatements {
        IdempotencyStatements(
            find: try connection.prepare(find), put: try connection.prepare(put),
            prune: try connection.prepare(prune), trim: try connection.prepare(trim))
    }

    /// The first id of an owner's newest tasks.
    ///
    /// Ids count the additions, so no row needs to be counted.
    private static let firstRemembered =
        "(SELECT next_id FROM owners WHERE owner = ?1) - \(IdempotencyKey.remembered)"
    private static let find = """
        SELECT \(IdempotencyRow.columns) FROM attempts
        WHERE owner = ?1 AND key = ?2 AND time > ?3 AND id >= \(firstRemembered)
        """
    private static let put = """
        INSERT OR REPLACE INTO attempts(owner, \(IdempotencyRow.columns))
        VALUES (\(TaskRow.parameters(1 + IdempotencyRow.count)))
        """
    private static let prune = """
        DELETE FROM attempts WHERE (owner, key) IN
            (SELECT owner, key FROM attempts WHERE time <= ?1 ORDER BY time LIMIT ?2)
        """
    private static let trim = "DELETE FROM attempts WHERE owner = ?1 AND id < \(firstRemembered)"

    /// The record of a key, if it is still remembered at this time.
    package func record(
        of key: IdempotencyKey, at time: Int64, owner: Owner
    ) throws(SQLiteError) -> IdempotencyRecord? {
        defer { find.reset() }
        try find.bind(owner.identifier, key.key, time - IdempotencyKey.lifetime)
        return try find.step() ? IdempotencyRow.record(in: find, of: owner) : nil
    }

    package func put(_ record: IdempotencyRecord) throws(SQLiteError) {
        let (key, item) = (record.key, record.item)
        try put.run(
            item.owner.identifier, key.key, Int64(bitPattern: key.fingerprint), item.created, item.id, item.text.value,
            item.completed, item.details)
    }

    /// Removes the keys of tasks that are not among an owner's newest.
    package func trim(of owner: Owner) throws(SQLiteError) {
        try trim.run(owner.identifier)
    }

    /// Removes at most this many of the keys that are expired at this time.
    package func prune(at time: Int64, atMost limit: Int64) throws(SQLiteError) {
        try prune.run(time - IdempotencyKey.lifetime, limit)
    }
}
