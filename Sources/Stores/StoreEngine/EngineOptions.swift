package import Tasks

package struct EngineOptions: Sendable {
    /// The names of the threads whose sessions read.
    package var readers: [String]
    /// The names of the threads whose sessions write.
    package var writers: [String]
    /// The most reads of a batch.
    package var mostReads = 1
    /// The number of jobs that may wait; more are refused as overloaded.
    package var waiting = 10_000
    /// Whether jobs that a session has taken count as waiting until they are answered: a database may let them wait.
    package var countsUnderWay = false
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
