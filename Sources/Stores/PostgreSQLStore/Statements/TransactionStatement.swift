import Basics
package import PostgreSQL

/// The statements around those of the tasks, and one that names no owner.
package enum TransactionStatement: String, CaseIterable {
    case begin, guarantee, commit, rollBack, prune

    package var sql: String {
        switch self {
        // Not READ WRITE: an operator who sets default_transaction_read_only, before a disk is full, wants no writes.
        case .begin: "BEGIN ISOLATION LEVEL READ COMMITTED"
        case .guarantee: Self.guaranteeSQL
        case .commit: "COMMIT"
        case .rollBack: "ROLLBACK"
        case .prune: Self.pruneSQL
        }
    }

    /// Removes up to $2 idempotency keys of any owner that are older than $1; one row for each.
    ///
    /// Does not wait for another server that does the same: it takes other rows.
    private static let pruneSQL = """
        DELETE FROM attempts USING (
            SELECT owner, key FROM attempts WHERE time <= $1 ORDER BY time LIMIT $2 FOR UPDATE SKIP LOCKED
        ) AS old
        WHERE attempts.owner = old.owner AND attempts.key = old.key
        RETURNING true
        """

    /// A deadline of $1 milliseconds for each statement, a quarter of a second of it for a row that others have locked, and a
    /// commit that is on a disk when it answers, whatever the role's defaults are.
    ///
    /// Only for this transaction, so that a pool of sessions may be in between.
    private static let guaranteeSQL = """
        SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '250', true),
            set_config('synchronous_commit',
            CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
            ELSE current_setting('synchronous_commit') END, true)
        """

    /// The types of the parameters, each shown by a value of it.
    package var types: [Parameter] {
        switch self {
        case .guarantee: [.text(nil)]
        case .prune: [.integer(nil), .integer(nil)]
        case .begin, .commit, .rollBack: []
        }
    }

    /// The name it is prepared under, if it is: planning it each time would cost more than a task.
    ///
    /// The others are always sent as SQL. With a pool a session may lack names; a COMMIT that fails for that is in doubt,
    /// and a ROLLBACK that does leaves the session in its failed transaction.
    package var preparedName: String? { self == .guarantee ? Self.guaranteeName : nil }

    private static let guaranteeName = statementName("guarantee", for: guaranteeSQL)
}

/// A name that changes with the SQL, so that in a pool of sessions shared with another version of this program one name
/// never means two things.
func statementName(_ name: String, for sql: String) -> String {
    "\(name)_\(String(FNV1a(of: sql).value, radix: 36))"
}
