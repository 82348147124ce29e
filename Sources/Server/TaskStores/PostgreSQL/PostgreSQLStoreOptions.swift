package import Platform
public import Tasks

/// How a PostgreSQL store works; the defaults suit a server.
public struct PostgreSQLStoreOptions: Sendable {
    /// The sessions for reading.
    public var readers = 2
    /// The sessions for writing.
    public var writers = 2
    /// Where long lists take their memory while they are made and sent.
    public var answers = AnswerMemory()
    /// The calls that may wait; more are refused as overloaded.
    public var waiting = 10_000
    /// The most writes that share a transaction.
    public var batch = 256
    /// How long a statement may take.
    public var deadlineMilliseconds = 10_000
    /// Into how many partitions tables are divided that are made now; nil: not at all.
    public var partitions: Int?
    /// Told of events, on the thread where they happen.
    public var observer: @Sendable (StoreEvent) -> Void = { _ in }

    /// For tests: the time by which idempotency keys grow old.
    package var time: any TimeSource = SystemTime()

    /// The defaults.
    public init() {}
}
