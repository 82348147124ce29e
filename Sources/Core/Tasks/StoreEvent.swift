/// What an operator wants to know of a store; holds nothing of any task.
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
    /// Another program (an import) changed the database; everything remembered was dropped.
    case changedByOthers
    /// The database file, or a file of its log, is not where it was: nothing is read or written any more.
    case displaced(reason: String)
    /// The files are where they were again.
    case replaced
    /// The file contradicts itself, as if a disk or another program had changed it; reported once.
    case damaged(reason: String)
    /// A session with the database server was lost, or none could be made; callers were told to come again.
    case connectionLost(reason: String)
    /// A session with the database server was made, the first or the first again.
    case connected
    /// A pool in between gives sessions to many: statements are no longer prepared in them.
    case sessionsShared
    /// The store ended; whether all of its log went into the database (if not, the next start does it), nil if it has none.
    case closed(checkpointed: Bool?)
}
