/// An event of a store, for its operator; contains nothing of any task.
package enum StoreEvent: Sendable, Equatable {
    /// A new file was given its tables, of this version.
    case created(version: Int)
    /// The tables of an older version were brought up to date.
    case migrated(from: Int, to: Int)
    /// A commit failed, and none of its changes was kept. Each reason is reported once, until a commit succeeds.
    case commitFailed(reason: String)
    /// A commit failed because the disk is full. This is reported once, until a commit succeeds again.
    case diskFull(reason: String)
    /// A commit succeeded, the first one after failures.
    case recovered
    /// The log could not be copied into the database file, so it grows. This is reported once, until a copy succeeds.
    case checkpointFailed(reason: String)
    /// The database file, or a file of its log, is no longer in its place. Until it is back, nothing is read or
    /// written.
    case displaced(reason: String)
    /// The files are in their place again.
    case replaced
    /// The file contradicts itself, as after a failure of the disk. This is reported once.
    case damaged(reason: String)
    /// A session with the database server was lost, or none could be made; callers were asked to try again.
    case connectionLost(reason: String)
    /// A session with the database server was made: the first, or the first after a loss.
    case connected
    /// A connection pool shares its sessions: statements are no longer prepared in them.
    case sessionsShared
    /// The store ended. The value says whether all of its log was copied into the database; if not, the next start
    /// copies the rest. It is nil for a store without a log.
    case closed(checkpointed: Bool?)

    /// The tables were made, or brought up to date from this version.
    package static func upgraded(from version: Int, to known: Int) -> StoreEvent {
        version == 0 ? .created(version: known) : .migrated(from: version, to: known)
    }
}
