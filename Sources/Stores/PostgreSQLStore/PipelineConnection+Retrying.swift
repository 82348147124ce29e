import Platform
package import PostgreSQL

/// Transactions of commands, which may run beside servers.
extension PipelineConnection {
    /// Runs a body that begins and commits a transaction, again while others are in its way.
    ///
    /// A transaction that failed is rolled back. `pause` gives the nanoseconds to wait after this many failures.
    package func retrying<Outcome>(
        atMost tries: Int, pause: (Int) -> UInt64, _ body: () throws(PostgreSQLError) -> Outcome
    ) throws(PostgreSQLError) -> Outcome {
        var failures = 0
        while true {
            do throws(PostgreSQLError) {
                return try body()
            } catch {
                _ = try? run("ROLLBACK")
                failures += 1
                guard error.kind == .locked || error.kind == .retryable, failures < tries else { throw error }
                SystemTime().sleep(nanoseconds: pause(failures))
            }
        }
    }
}
