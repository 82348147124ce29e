package import Platform
package import Tasks

/// How a PostgreSQL store works; the defaults suit a server.
package struct PostgreSQLStoreOptions: Sendable {
    /// The sessions for reading.
    package var readers = 2
    /// The sessions for writing.
    package var writers = 2
    /// Where long lists take their memory while they are made and sent.
    package var answers = AnswerMemory()
    /// The calls that may wait; more are refused as overloaded.
    package var waiting = 10_000
    /// The most writes that share a transaction.
    package var batch = 256
    /// How long a statement may take.
    package var deadlineMilliseconds = 10_000
    /// Into how many partitions tables are divided that are made now; nil: not at all.
    package var partitions: Int?
    /// Told of events, on the thread where they happen.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }

    /// For tests: the time by which idempotency keys grow old.
    package var time: any TimeSource = SystemTime()

    /// The defaults.
    package init() {}
}
