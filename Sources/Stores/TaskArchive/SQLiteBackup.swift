package import Basics
import Platform
import SQLite
package import SQLiteStore
import Tasks

extension SQLiteFile {
    /// Writes the present state into a new database file, which appears whole, and on the disk, or not at all.
    package func backup(to target: String) throws(OperatorError) {
        let connection = try open(.readOnly)
        guard !File.exists(target) else {
            throw OperatorError("\(target) exists, and is not replaced", advice: "give another name or move it away")
        }
        let partial = target + ".partial"
        File.remove(partial)
        do throws(OperatorError) {
            // The file is created first, because SQLite would let every user read it.
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.createIfMissing(partial) }
            try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
                try connection.prepare("VACUUM INTO ?1").run(partial)
            }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.publish(partial, as: target) }
        } catch {
            File.remove(partial)
            throw error
        }
    }
}

/// Puts a copy of a database in the place of the database, while no server uses it.
package struct SQLiteRestore: Sendable {
    package let tasks: Int64
    package let people: Int64
    /// The name that the earlier database has now; nil if there was none.
    package let kept: String?

    /// Restores the database at a path, which is the whole copy afterwards, or unchanged.
    ///
    /// Only a copy in which SQLite finds no damaged page is taken; the copy may be of an older version. A crash in the
    /// middle leaves a database with two names, which no server opens.
    package init(of path: String, from copy: String) throws(OperatorError) {
        guard !File.isSame(copy, as: path) else {
            throw OperatorError("\(copy) is the database itself", advice: "name a copy of it")
        }
        let file = SQLiteFile(path)
        let path = file.path
        let connection = try Self.open(copy)
        let lock = try file.lockForCommand()
        let partial = path + ".restoring"
        File.remove(partial)
        do throws(OperatorError) {
            (tasks, people) = try Self.check(connection, copy)
            try Self.write(connection, to: partial, as: path)
            kept = try rethrowing(as: OperatorError.init) { () throws(SystemError) in
                let kept = try Self.keep(path)
                try File.move(partial, to: path)
                return kept
            }
        } catch {
            File.remove(partial)
            throw error
        }
        withExtendedLifetime(lock) {}
    }

    private static func open(_ copy: String) throws(OperatorError) -> Connection {
        do throws(OperatorError) {
            return try SQLiteFile(copy).open(.readOnly, anyVersion: true)
        } catch {
            throw OperatorError(error.failure, advice: "name a copy that task-server backup has made")
        }
    }

    /// Checks every page of a copy, and counts its tasks and people.
    private static func check(
        _ connection: borrowing Connection, _ copy: String
    ) throws(OperatorError) -> (tasks: Int64, people: Int64) {
        do throws(SQLiteError) {
            let check = try connection.prepare("PRAGMA integrity_check(1)")
            defer { check.reset() }
            let finding = try check.step() ? check.text(0) : "no answer"
            guard finding == "ok" else { throw .corrupt(String(finding.split(separator: "\n").last ?? "")) }
            let tasks = try connection.integer("SELECT count(*) FROM tasks") ?? 0
            return (tasks, try connection.integer("SELECT count(DISTINCT owner) FROM tasks") ?? 0)
        } catch {
            throw OperatorError("\(copy) is damaged (\(error.description))", advice: "use another copy")
        }
    }

    /// Writes the copy into a new file with the permissions of the database.
    private static func write(
        _ connection: borrowing Connection, to partial: String, as path: String
    ) throws(OperatorError) {
        try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            try File.createIfMissing(partial)
            try File.copyPermissions(of: path, to: partial)
        }
        do throws(SQLiteError) {
            try connection.prepare("VACUUM INTO ?1").run(partial)
        } catch {
            throw OperatorError(error)
        }
        try renewOrigins(in: partial)
    }

    /// Gives every list a new origin: clients know changes that were made after the copy.
    private static func renewOrigins(in partial: String) throws(OperatorError) {
        let connection = try SQLiteFile(partial).open(.readWrite, anyVersion: true)
        do throws(SQLiteError) {
            // A copy of a version without change numbers gets them at the next start.
            let columns = try connection.integer(
                "SELECT count(*) FROM pragma_table_info('owners') WHERE name = 'origin'")
            guard columns == 1 else { return }
            try connection.execute("PRAGMA synchronous = FULL")
            try connection.prepare("UPDATE owners SET origin = ?1").run(ChangePoint.newOrigin)
        } catch {
            throw OperatorError(error)
        }
    }

    /// Gives the database at the path, and its log, another name; returns the name, or nil if there is no database.
    ///
    /// A log that stayed would be applied to the copy.
    private static func keep(_ path: String) throws(SystemError) -> String? {
        var kept = path + ".replaced"
        var number = 2
        while File.exists(kept) { (kept, number) = ("\(path).replaced-\(number)", number + 1) }
        let isThere = try File.size(path) ?? 0 > 0
        if isThere { try File.link(path, as: kept) }
        for suffix in ["-wal", "-journal"] where File.exists(path + suffix) {
            try File.move(path + suffix, to: kept + suffix)
        }
        File.remove(path + "-shm")
        return isThere ? kept : nil
    }
}
