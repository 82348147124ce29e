package import Basics

/// Why a store could not be opened.
package enum StoreOpenError: Error, Sendable, Equatable {
    /// Another server, or a command that writes, is using the database.
    case locked(path: String)
    /// The file has other names (hard links).
    case hasOtherNames(path: String)
    /// The path leads to something that is no file, such as a folder.
    case notAFile(path: String, kind: String)
    /// A newer program has written the database.
    case fromTheFuture(path: String, version: Int, known: Int)
    /// An older program has written the database, and this way of opening must not change it.
    case outdated(path: String, version: Int, known: Int)
    /// The file is no SQLite database.
    case notADatabase(path: String)
    /// A SQLite database of another program.
    case foreign(path: String)
    /// There is no such file.
    case missing(path: String)
    /// The file or its folder cannot be written.
    case unwritable(path: String, reason: String)
    /// The file cannot be opened or read.
    case unreadable(path: String, reason: String)
    /// The disk is full.
    case full(path: String)
    /// The database server is not set up as task-server needs it; the message says what to do.
    case refused(String)
    case failed(path: String, reason: String)

    /// Whether a server holds the database.
    package var isLocked: Bool { if case .locked = self { true } else { false } }

    /// One line for a person, with what to do.
    package var message: String {
        switch self {
        case .locked(let path):
            "another task-server uses the database \(path); stop it, or give this one another TASKS_DATABASE"
        case .hasOtherNames(let path):
            "the database \(path) has another name (a hard link); by that, a part of it would be missing: remove the other "
                + "name, or make a copy by `task-server backup`"
        case .notAFile(let path, let kind): "\(path) is \(kind), not a file; give another TASKS_DATABASE"
        case .fromTheFuture(let path, let version, let known):
            "the database \(path) has version \(version), written by a newer task-server; this one knows version "
                + "\(known): install the newer one, or use a backup from before"
        case .outdated(let path, let version, let known):
            "the database \(path) has version \(version), older than \(known): start task-server once to bring it up "
                + "to date"
        case .notADatabase(let path):
            "\(path) is not a SQLite database; move it away, or give another TASKS_DATABASE"
        case .foreign(let path):
            "the database \(path) belongs to another program; give another TASKS_DATABASE"
        case .missing(let path): "there is no database \(path); check TASKS_DATABASE"
        case .unwritable(let path, let reason):
            "the database \(path) cannot be written (\(reason)); check the permissions of the file and its folder"
        case .unreadable(let path, let reason):
            "the database \(path) cannot be opened (\(reason)); check the path and its permissions"
        case .full(let path): "there is no room on the disk of the database \(path); make room and start again"
        case .refused(let message): message
        case .failed(let path, let reason): "the database \(path) cannot be opened (\(reason))"
        }
    }
}

extension OperatorError {
    /// A database that does not open.
    package init(_ error: StoreOpenError) { self.init(sentence: error.message) }

    /// A database that does not open for a command that changes tasks: no server may use the database meanwhile.
    package static func ofWriter(_ error: StoreOpenError) -> OperatorError {
        guard case .locked(let path) = error else { return OperatorError(error) }
        return OperatorError(
            "a task-server uses the database \(path), and keeps lists of its tasks in memory",
            advice: "stop the server first, and start it again when this command has ended")
    }

    /// A value in an open database that stops a command.
    package init(_ value: ForeignValue) { self = .databaseFailed(value.message) }
}
