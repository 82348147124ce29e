/// Counts of a store since its start, and what it holds now, for metrics.
public struct StoreStatistics: Sendable, Equatable {
    /// Writes that wait for the writer now.
    public var waitingWrites = 0
    /// Reads that wait for a reader now.
    public var waitingReads = 0
    /// Transactions committed.
    public var commits = 0
    /// Transactions that failed.
    public var failedCommits = 0
    /// Writes answered after a commit; divided by `commits`, the size of a group.
    public var writes = 0
    /// Calls refused because too much waited.
    public var refused = 0
    /// Lists answered from memory.
    public var listHits = 0
    /// Lists read from the disk.
    public var listMisses = 0
    /// Lists given up for want of memory.
    public var listEvictions = 0
    /// Lists in memory now.
    public var lists = 0
    /// Their bytes, overhead estimated.
    public var listBytes = 0

    /// Counts of nothing.
    public init() {}
}
