package import PostgreSQL
package import Tasks

/// The columns of the record of an idempotency key (table `attempts`) in the order in which statements name them.
package enum AttemptColumns {
    package static let all = "owner, key, fingerprint, time, id, text, completed, \(TaskDetail.columns)"

    /// The record in a row of these columns.
    package static func record(in rows: borrowing Rows, _ row: Int) throws(ForeignValue) -> IdempotencyRecord {
        try IdempotencyRecord(
            storedKey: rows.text(row, 1), fingerprint: rows.integer(row, 2), time: rows.integer(row, 3),
            id: rows.integer(row, 4), owner: Owner(stored: rows.text(row, 0)), text: rows.text(row, 5),
            completed: rows.boolean(row, 6), details: TaskColumns.details(in: rows, row, after: 7))
    }
}
