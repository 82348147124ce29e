import Basics
import SQLite
import Tasks

extension SQLiteTransaction {
    static let findKeySQL =
        "SELECT \(IdempotencyRecord.columns.dropFirst().names) FROM attempts WHERE owner = ?1 AND key = ?2"
    static let putKeySQL = """
        INSERT OR REPLACE INTO attempts(\(IdempotencyRecord.columns.names))
        VALUES (\(TaskRow.parameters(IdempotencyRecord.columns.count)))
        """
    static let pruneKeysSQL = """
        DELETE FROM attempts WHERE (owner, key) IN
            (SELECT owner, key FROM attempts WHERE time <= ?1 ORDER BY time LIMIT ?2)
        """
    static let trimKeysSQL = "DELETE FROM attempts WHERE owner = ?1 AND id < ?2"

    func record(of key: String) throws(SQLiteError) -> IdempotencyRecord? {
        defer { findKey.reset() }
        try findKey.bind(change.owner.identifier, key)
        return try findKey.step() ? Self.record(in: findKey, of: change.owner) : nil
    }

    private static func record(in row: borrowing SQLiteStatement, of owner: Owner) throws(SQLiteError)
        -> IdempotencyRecord
    {
        try rethrowing(as: SQLiteError.init) { () throws(ForeignValue) in
            try IdempotencyRecord(of: owner) { row.value(of: IdempotencyRecord.columns[$0 + 1], at: Int32($0)) }
        }
    }

    func put(_ record: IdempotencyRecord) throws(SQLiteError) {
        let (key, item) = (record.key, record.item)
        try putKey.run(
            item.owner.identifier, key.key, Int64(bitPattern: key.fingerprint), item.created, item.id, item.text.value,
            item.completed, item.details)
    }

    func forgetRecords(ofTasksBefore id: Int64) throws(SQLiteError) {
        try trimKeys.run(change.owner.identifier, id)
    }

    /// Removes at most this many of the keys that are expired at this time.
    func pruneKeys(at time: Int64, atMost limit: Int64) throws(SQLiteError) {
        try pruneKeys.run(time - IdempotencyKey.lifetime, limit)
    }
}
