/// An event of a store, for its operator; contains nothing of any task.
package enum StoreEvent: Sendable, Equatable {
    /// A new file was given its tables, of this version.
    case created(version: Int)
    /// The tables of an older version were brought up to date.
    case migrated(from: Int, to: Int)
    /// A commit failed: all its callers got an error, and nothing of it was kept.
    ///
    /// Reported once for a reason, until something could be written again; ``StoreStatistics`` counts each.
    case commitFailed(reason: String)
    /// A commit failed because there is no room on the disk; reported once until something could be written again.
    case diskFull(reason: String)
    /// The first commit that wrote something after failures.
    case recovered
    /// The log could not be copied into the database file, so it grows; reported once, until a copy succeeds.
    case checkpointFailed(reason: String)
    /// The database file, or a file of its log, is no longer in its place: nothing is read or written.
    case displaced(reason: String)
    /// The files are in their place again.
    case replaced
    /// The file contradicts itself, as after a failure of the disk or a change by another program; reported once.
    case damaged(reason: String)
    /// A session with the database server was lost, or none could be made; callers were asked to try again.
    case connectionLost(reason: String)
    /// A session with the database server was made: the first, or the first after a loss.
    case connected
    /// A connection pool shares its sessions: statements are no longer prepared in them.
    case sessionsShared
    /// The store ended; whether all of its log went into the database (if not, the next start does it), nil if it has none.
    case closed(checkpointed: Bool?)
}
