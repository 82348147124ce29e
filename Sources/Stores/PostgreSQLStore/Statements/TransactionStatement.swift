import Basics
package import PostgreSQL

/// The statements around those of the tasks, and one that names no owner.
package enum TransactionStatement: String, CaseIterable {
    case begin, guarantee, commit, rollBack, prune

    package var sql: String {
        switch self {
        // Not READ WRITE, because an operator who sets default_transaction_read_only before a disk is full wants no writes.
        case .begin: "BEGIN ISOLATION LEVEL READ COMMITTED"
        case .guarantee: Self.guaranteeSQL
        case .commit: "COMMIT"
        case .rollBack: "ROLLBACK"
        case .prune: Self.pruneSQL
        }
    }

    /// Removes up to $2 idempotency keys of any owner that are older than $1; the answer has one row for each.
    ///
    /// The statement waits for no other server that does the same, and takes other rows.
    private static let pruneSQL = """
        DELETE FROM attempts USING (
            SELECT owner, key FROM attempts WHERE time <= $1 ORDER BY time LIMIT $2 FOR UPDATE SKIP LOCKED
        ) AS old
        WHERE attempts.owner = old.owner AND attempts.key = old.key
        RETURNING true
        """

    /// Gives each statement a deadline of $1 milliseconds, and a quarter of a second to wait for a row that others have locked.
    ///
    /// The commit answers when it is on a disk, whatever the role's defaults are.
    ///
    /// The settings end with the transaction, so that a pool of sessions may be in between.
    private static let guaranteeSQL = """
        SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '250', true),
            set_config('synchronous_commit',
            CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
            ELSE current_setting('synchronous_commit') END, true)
        """

    /// A value of the type of each parameter.
    package var types: [Parameter] {
        switch self {
        case .guarantee: [.text(nil)]
        case .prune: [.integer(nil), .integer(nil)]
        case .begin, .commit, .rollBack: []
        }
    }

    /// The name under which the statement is prepared, if it is.
    ///
    /// Planning this one each time would cost more than a task.
    ///
    /// The others are always sent as SQL. With a pool a session may lack names. A COMMIT that fails for that reason is in
    /// doubt, and a ROLLBACK that fails leaves the session in its failed transaction.
    package var preparedName: String? { self == .guarantee ? Self.guaranteeName : nil }

    private static let guaranteeName = statementName("guarantee", for: guaranteeSQL)
}

/// A name that changes with the SQL, so that one name never means two statements in a pool of sessions that another version
/// of this program shares.
func statementName(_ name: String, for sql: String) -> String {
    "\(name)_\(String(FNV1a(of: sql).value, radix: 36))"
}
