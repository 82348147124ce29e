package import Tasks

package struct EngineOptions: Sendable {
    /// The names of the threads whose sessions read.
    package var readers: [String]
    /// The names of the threads whose sessions write.
    package var writers: [String]
    /// The most reads of a batch.
    package var mostReads = 1
    /// The memory of all calls that are not answered, in bytes; more calls are refused as overloaded.
    ///
    /// Of one kind of call, one owner may hold a third of what is free. So one owner gets a quarter of all, and some is left
    /// for owners who hold nothing.
    package var mostBytes = 32 << 20
    /// Whether jobs that a session has taken count as waiting until they are answered: a database may let them wait.
    package var countsUnderWay = false
    /// Whether the writes of several owners may share a transaction.
    package var sharesTransactions = true
    /// How long a job may wait, in nanoseconds; it is refused as overloaded then.
    package var patience: UInt64 = 10_000_000_000
    /// Called with events, on the thread where they happen.
    package var observer: @Sendable (StoreEvent) -> Void = { _ in }
    /// Called after a commit with its changes, if there are any, before any caller is answered.
    package var onCommit: @Sendable ([OwnerChange]) -> Void = { _ in }

    package init(readers: [String], writers: [String]) {
        self.readers = readers
        self.writers = writers
    }
}
