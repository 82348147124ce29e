package import Platform
package import SQLite
package import Tasks

/// How a SQLite store works; the defaults suit a server.
package struct SQLiteStoreOptions: Sendable {
    /// The bytes that rendered lists may take.
    package var listMemory = 64 << 20
    /// Where long lists take their memory while they are made and sent.
    package var answers = AnswerMemory()
    /// The threads that read what is not in memory.
    package var readers = 2
    /// The calls that may wait; more are refused as overloaded.
    package var waiting = 10_000
    /// The most writes that share a transaction.
    package var batch = 256
    /// Told of events, on the thread where they happen.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }

    /// For tests: the largest size of the database in pages of 4 KiB, as if the disk ended there.
    package var maximumPages: Int?
    /// For tests: an error here makes a commit fail.
    package var beforeCommit: @Sendable () -> SQLiteError? = { nil }
    /// For tests: called when a list was read and is not yet remembered.
    package var afterRead: @Sendable () -> Void = {}

    /// For tests: the time by which idempotency keys grow old.
    package var time: any TimeSource = SystemTime()

    /// The defaults.
    package init() {}
}
