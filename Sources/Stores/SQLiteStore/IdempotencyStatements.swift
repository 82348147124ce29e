import Basics
import SQLite
import Tasks

/// The statements about idempotency keys.
struct IdempotencyStatements: ~Copyable {
    private let find: Statement
    private let put: Statement
    private let prune: Statement
    private let trim: Statement

    static func compiled(on connection: borrowing Connection) throws(SQLiteError) -> IdempotencyStatements {
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
        SELECT \(IdempotencyRecord.columns.dropFirst().names) FROM attempts
        WHERE owner = ?1 AND key = ?2 AND time > ?3 AND id >= \(firstRemembered)
        """
    private static let put = """
        INSERT OR REPLACE INTO attempts(\(IdempotencyRecord.columns.names))
        VALUES (\(TaskRow.parameters(IdempotencyRecord.columns.count)))
        """
    private static let prune = """
        DELETE FROM attempts WHERE (owner, key) IN
            (SELECT owner, key FROM attempts WHERE time <= ?1 ORDER BY time LIMIT ?2)
        """
    private static let trim = "DELETE FROM attempts WHERE owner = ?1 AND id < \(firstRemembered)"

    /// The record of a key, if it is still remembered at this time.
    func record(
        of key: IdempotencyKey, at time: Int64, owner: Owner
    ) throws(SQLiteError) -> IdempotencyRecord? {
        defer { find.reset() }
        try find.bind(owner.identifier, key.key, time - IdempotencyKey.lifetime)
        return try find.step() ? Self.record(in: find, of: owner) : nil
    }

    private static func record(in row: borrowing Statement, of owner: Owner) throws(SQLiteError) -> IdempotencyRecord {
        try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try IdempotencyRecord(of: owner) { row.value(of: IdempotencyRecord.columns[$0 + 1], at: Int32($0)) }
        }
    }

    func put(_ record: IdempotencyRecord) throws(SQLiteError) {
        let (key, item) = (record.key, record.item)
        try put.run(
            item.owner.identifier, key.key, Int64(bitPattern: key.fingerprint), item.created, item.id, item.text.value,
            item.completed, item.details)
    }

    /// Removes the keys of tasks that are not among an owner's newest.
    func trim(of owner: Owner) throws(SQLiteError) {
        try trim.run(owner.identifier)
    }

    /// Removes at most this many of the keys that are expired at this time.
    func prune(at time: Int64, atMost limit: Int64) throws(SQLiteError) {
        try prune.run(time - IdempotencyKey.lifetime, limit)
    }
}
