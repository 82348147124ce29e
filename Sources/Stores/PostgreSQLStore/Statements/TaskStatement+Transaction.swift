/// The statements around those of the tasks, and one that names no owner.
extension TaskStatement {
    /// Whether the statement concerns one owner, its `$1`.
    package var namesOwner: Bool {
        switch self {
        case .begin, .guarantee, .commit, .rollBack, .prune: false
        default: true
        }
    }

    /// Whether the statement is prepared in a session that is not shared.
    ///
    /// The other statements are always sent as SQL, because with a pool a session may lack names. A COMMIT that fails for
    /// that reason is in doubt, and a ROLLBACK that fails leaves the session in its failed transaction.
    var isPrepared: Bool { namesOwner || self == .guarantee }

    /// Removes up to $2 idempotency keys of any owner that are older than $1; the answer has one row for each.
    ///
    /// The statement waits for no other server that does the same, and takes other rows.
    static let pruneSQL = """
        DELETE FROM attempts USING (
            SELECT owner, key FROM attempts WHERE time <= $1 ORDER BY time LIMIT $2 FOR UPDATE SKIP LOCKED
        ) AS old
        WHERE attempts.owner = old.owner AND attempts.key = old.key
        RETURNING true
        """

    /// Gives each statement, and each pause between two, a deadline of $1 milliseconds, and a quarter of a second to wait
    /// for a row that others have locked.
    ///
    /// The commit answers when it is on a disk, whatever the role's defaults are. The settings end with the transaction, so
    /// that a pool of sessions may be in between.
    static let guaranteeSQL = """
        SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '250', true),
            set_config('idle_in_transaction_session_timeout', $1, true), set_config('synchronous_commit',
            CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
            ELSE current_setting('synchronous_commit') END, true)
        """
}
