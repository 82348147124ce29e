extension Connection {
    /// Runs the body in one writing transaction: commits when the body returns, and rolls back when it throws.
    package func transaction<Outcome>(
        _ body: () throws(SQLiteError) -> Outcome
    ) throws(SQLiteError) -> Outcome {
        try execute("BEGIN IMMEDIATE")
        do {
            let outcome = try body()
            try execute("COMMIT")
            return outcome
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs a body that only reads, all of it on one state of the database.
    package func snapshot<Outcome>(_ body: () throws(SQLiteError) -> Outcome) throws(SQLiteError) -> Outcome {
        try execute("BEGIN")
        defer { rollBack() }
        return try body()
    }

    /// Ends the open transaction without its changes, unless the error has ended it already.
    package func rollBack() {
        guard isInTransaction else { return }
        // A rollback that fails leaves nothing to do: SQLite has rolled back by itself, or rolls back at the close.
        _ = try? execute("ROLLBACK")
    }
}
