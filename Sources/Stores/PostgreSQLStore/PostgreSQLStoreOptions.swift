package import Platform
package import Tasks

/// How a PostgreSQL store works; the defaults suit a server.
package struct PostgreSQLStoreOptions: Sendable {
    /// How many sessions read, and how many write.
    package var readers = 2
    package var writers = 2
    /// Where long lists take their memory while they are made and sent.
    package var answers = AnswerMemory()
    /// The memory of all calls that wait, in bytes; more are refused as overloaded.
    package var mostBytes = 32 << 20
    /// How long a statement may take, and a call may wait for its turn.
    package var deadlineMilliseconds = 10_000
    /// How many partitions new tables get; nil: none.
    package var partitions: Int?
    /// Called with events, on the thread where they happen.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }

    /// For tests: the time by which idempotency keys expire.
    package var time: any TimeSource = SystemTime()
    /// For tests: how often expired idempotency keys are looked for.
    package var pruningMilliseconds: UInt64 = 10_000
    /// For tests: how long a thread sleeps at most until it looks whether its session has ended.
    package var sleepMilliseconds: UInt64 = 1000

    package init() {}
}
