package import Platform
package import SQLite
package import Tasks

/// How a SQLite store works; the defaults suit a server.
package struct SQLiteStoreOptions: Sendable {
    /// Where long lists take their memory while they are made and sent.
    package var answers = AnswerMemory()
    /// Called with events, on the thread where they happen.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }
    /// How long removed tasks are known, in milliseconds.
    package var removedTasksKept = RemovedTask.kept

    /// For tests: the greatest size of the database in pages of 4 KiB, as if the disk were full then.
    package var maximumPages: Int?
    /// For tests: an error returned here makes a commit fail.
    package var beforeCommit: @Sendable () -> SQLiteError? = { nil }
    /// For tests: called when a commit can be seen, and before its callers are answered.
    package var afterCommit: @Sendable () -> Void = {}
    /// For tests: called when a list was read and is not cached yet.
    package var afterRead: @Sendable () -> Void = {}

    /// For tests: how long the log may keep what was deleted with an owner.
    package var logEmptyingMilliseconds: UInt64 = 60_000
    /// For tests: the clock by which idempotency keys and removed tasks are forgotten.
    package var time: any TimeSource = SystemTime()

    package init() {}
}
