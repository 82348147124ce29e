package import Basics

/// The counts of a store since its start, and its present state, for metrics.
package struct StoreStatistics: Sendable, Equatable {
    /// Writes that wait for the writer now.
    package var waitingWrites = 0
    /// Reads that wait for a reader now.
    package var waitingReads = 0
    package var commits = 0
    package var failedCommits = 0
    /// Writes answered after a commit; divided by `commits`, the size of a group.
    package var writes = 0
    /// Calls refused because the queue was full, or because they waited for too long.
    package var refused = 0
    /// Lists answered from memory.
    package var listHits = 0
    /// Lists read from the disk.
    package var listMisses = 0
    /// Lists dropped from memory to make room.
    package var listEvictions = 0
    /// Lists in memory now.
    package var lists = 0
    /// The bytes of the lists in memory, with an estimate of their overhead.
    package var listBytes = 0

    package init() {}
}

/// How long the work of a store takes, for metrics.
package struct StoreTimes: Sendable {
    /// The time from the caller's request until a session takes it, of reads and writes.
    package let waits = DurationHistogram()
    /// The time from the start to the end of each committed transaction of writes.
    package let commits = DurationHistogram()

    package init() {}
}
