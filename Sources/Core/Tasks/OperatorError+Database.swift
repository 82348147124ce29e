package import Basics

/// Why a database does not open, or what stops a command that has opened one.
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

    /// The database of another program.
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
