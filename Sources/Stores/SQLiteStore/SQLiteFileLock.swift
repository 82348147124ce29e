package import Basics
import Platform
import Synchronization
import Tasks

/// The right of a server to be the only one on a database file, and a watch that the next start will find this file.
package final class SQLiteFileLock: Sendable {
    private let path: String
    /// Keeps servers away that use the same path; taken first, so that the file of a running server is not even opened.
    private let pathLock: FileLock
    /// Keeps servers away that reach the file by another path.
    private let file: FileLock
    /// The identities of SQLite's log and its index, which stay until the last connection is closed.
    private let companions = Mutex<[String: FileIdentity]>([:])
    private let watch = Mutex(OverwriteWatch())

    /// Locks the file at this path, which is created if it is missing.
    package init(_ path: String) throws(OperatorError) {
        self.path = path
        pathLock = try Self.lock(path + ".lock", .whole, of: path)
        // Created here, because SQLite would let every user read it.
        file = try Self.lock(path, .databaseByte, of: path)
    }

    private static func lock(
        _ file: String, _ extent: FileLock.Extent, of database: String
    ) throws(OperatorError) -> FileLock {
        try rethrowing(as: { Self.openError($0, database) }) { () throws(FileLock.Failure) in
            try FileLock(path: file, extent)
        }
    }

    private static func openError(_ failure: FileLock.Failure, _ path: String) -> OperatorError {
        switch failure {
        case .held: .lockedDatabase(path)
        case .hasOtherNames: .linkedDatabase(path)
        case .system(let error): .unwritableDatabase(path, error.reason)
        }
    }

    /// Whether the file has lost its name, so that writes to it are lost: asked before every transaction.
    var isUnlinked: Bool { file.isNameless }

    /// Says what happened to the files; nil if they are where they were, and nobody else wrote to the database.
    ///
    /// The store asks once a second, so that the watch sees whether its marks last.
    var displacement: String? {
        guard file.isInPlace else { return Self.displacement(of: path) }
        if watch.withLock({ $0.look(at: file, index: path + "-shm") }) {
            return "\(path) was overwritten while the server runs: stop the server, and use task-server restore"
        }
        return companions.withLock { companions in
            for path in [path + "-wal", path + "-shm"] {
                let found = FileIdentity(path)
                guard let known = companions[path] else {
                    companions[path] = found
                    continue
                }
                guard known == found else { return Self.displacement(of: path) }
            }
            return nil
        }
    }

    private static func displacement(of path: String) -> String {
        "\(path) was removed, moved or replaced while the server runs"
    }
}
