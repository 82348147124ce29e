import Basics
import Platform
import Synchronization
package import Tasks

/// The right of a server to be the only one on a database file.
///
/// It also watches the file, so that nothing is written to one that is no longer where the next start looks for it.
package final class SQLiteFileLock: Sendable {
    private let path: String
    /// Keeps servers away that use the same path; taken first, so that the file of a running one is not even opened.
    private let pathLock: FileLock
    /// Keeps servers away that reach the file by another path.
    private let file: LockedFile
    /// SQLite's log and its index, from when they were first seen; they stay until the last connection is closed.
    private let companions = Mutex<[String: FileIdentity]>([:])
    /// By which other programs ask for a ``CachePause``.
    private let marks: FileMarks

    /// The path of the lock file of a database.
    static func lockFile(of path: String) -> String { path + ".lock" }

    /// Locks the file at this path, which is created if it is missing.
    package init(_ path: String) throws(StoreOpenError) {
        self.path = path
        pathLock = try rethrowing(as: { Self.openError($0, path) }) { () throws(FileLock.Failure) in
            try FileLock(path: Self.lockFile(of: path))
        }
        // Created here, because SQLite would let every user read it.
        file = try rethrowing(as: { Self.openError($0, path) }) { () throws(LockedFile.Failure) in
            try LockedFile.lock(path)
        }
        marks = try rethrowing(as: { StoreOpenError.unwritable(path: path, reason: $0.reason) }) {
            () throws(SystemError) in try FileMarks(path: Self.lockFile(of: path))
        }
    }

    /// Whether another program asks for a ``CachePause``.
    var isCachePauseRequested: Bool { marks.isSetByAnother(CachePause.Mark.request) }

    /// Tells a program that asks for a ``CachePause`` whether the cache is empty and stays so.
    func confirmCachePause(_ isPaused: Bool) {
        if isPaused { _ = marks.set(CachePause.Mark.confirmation) } else { marks.remove(CachePause.Mark.confirmation) }
    }

    private static func openError(_ failure: FileLock.Failure, _ path: String) -> StoreOpenError {
        switch failure {
        case .held: .locked(path: path)
        case .system(let error): .unwritable(path: path, reason: error.reason)
        }
    }

    private static func openError(_ failure: LockedFile.Failure, _ path: String) -> StoreOpenError {
        switch failure {
        case .held: .locked(path: path)
        case .hasOtherNames: .hasOtherNames(path: path)
        case .system(let error): .unwritable(path: path, reason: error.reason)
        }
    }

    /// Whether the file has lost its name, so that writes to it are lost: asked before every transaction.
    var isUnlinked: Bool { file.isNameless }

    /// What happened to the files, if they are not where they were; nil if they are.
    var displacement: String? {
        guard file.isInPlace else { return Self.displacement(of: path) }
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
