package import Basics

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
    /// Idempotency keys, removed tasks or deleted owners that are too old could not be forgotten; the store tries again.
    case pruningFailed(reason: String)
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

/// The counts of a store since its start, and its present state, for metrics.
package struct StoreStatistics: Sendable, Equatable {
    /// Writes that wait for a session now.
    package var waitingWrites = 0
    /// Reads that wait for a session now.
    package var waitingReads = 0
    package var commits = 0
    package var failedCommits = 0
    /// Writes answered after a commit; divided by `commits`, the size of a group.
    package var writes = 0
    /// Calls refused because the queue was full, or because they waited for too long.
    package var refused = 0
    /// Lists answered from memory.
    package var listHits = 0
    /// Lists read from the database.
    package var listMisses = 0
    /// Lists dropped from memory to make room.
    package var listEvictions = 0
    /// Lists in memory now.
    package var lists = 0
    /// The bytes of the lists in memory, with an estimate of their overhead.
    package var listBytes = 0

    package init() {}
}

/// The times that the work of a store takes, for metrics.
package struct StoreTimes: Sendable {
    /// The time from the caller's request until a session takes it, of reads and writes.
    package let waits = DurationHistogram()
    /// The time from the start to the end of each committed transaction of writes.
    package let commits = DurationHistogram()

    package init() {}
}

/// The reasons why a database does not open, or why a command on an open one stops.
extension OperatorError {
    /// Another server, or a command that writes, is using the database.
    package static func lockedDatabase(_ path: String) -> OperatorError {
        var error = OperatorError(
            "another task-server uses the database \(path)",
            advice: "stop it, or give this one another TASKS_DATABASE")
        error.isDatabaseLocked = true
        return error
    }

    /// The file has other names (hard links).
    package static func linkedDatabase(_ path: String) -> OperatorError {
        OperatorError(
            "the database \(path) has another name (a hard link); by that, a part of it would be missing: remove the other "
                + "name, or make a copy by `task-server backup`")
    }

    /// The path leads to something that is no file, such as a folder.
    package static func notAFile(_ path: String, kind: String) -> OperatorError {
        OperatorError("\(path) is \(kind), not a file", advice: "give another TASKS_DATABASE")
    }

    /// A newer program has written the database.
    package static func newerDatabase(_ path: String, version: Int, known: Int) -> OperatorError {
        OperatorError(
            "the database \(path) has version \(version), written by a newer task-server",
            advice: "this one knows version \(known): install the newer one, or use a backup from before")
    }

    /// An older program has written the database, and this way of opening must not change it.
    package static func olderDatabase(_ path: String, version: Int, known: Int) -> OperatorError {
        OperatorError(
            "the database \(path) has version \(version), older than \(known): start task-server once to bring it up "
                + "to date")
    }

    /// The database belongs to another program.
    package static func foreignDatabase(_ path: String) -> OperatorError {
        OperatorError("the database \(path) belongs to another program", advice: "give another TASKS_DATABASE")
    }

    /// There is no such file.
    package static func missingDatabase(_ path: String) -> OperatorError {
        OperatorError("there is no database \(path)", advice: "check TASKS_DATABASE")
    }

    /// The file or its folder cannot be written.
    package static func unwritableDatabase(_ path: String, _ reason: String) -> OperatorError {
        OperatorError(
            "the database \(path) cannot be written (\(reason))",
            advice: "check the permissions of the file and its folder")
    }

    package static func fullDatabase(_ path: String) -> OperatorError {
        OperatorError("there is no room on the disk of the database \(path)", advice: "make room and start again")
    }

    package static func unopenedDatabase(_ path: String, _ reason: String) -> OperatorError {
        OperatorError("the database \(path) cannot be opened (\(reason))")
    }

    /// A value in an open database that stops a command.
    package init(_ value: ForeignValue) { self = .databaseFailed(value.message) }
}
