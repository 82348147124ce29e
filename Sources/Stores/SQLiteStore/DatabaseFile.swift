package import Tasks
import Platform
import Synchronization

/// The database file of a server: locked against every other server, and watched, so that nothing is written to a file that
/// is no longer where the next start looks for it.
package final class DatabaseFile: Sendable {
    private let path: String
    /// Keeps servers away that use the same path; taken first, so that the file of a running one is not even opened.
    private let lock: FileLock
    /// Keeps servers away that reach the file by another path.
    private let file: LockedFile
    /// SQLite's log and its index, from when they were first seen; they stay until the last connection is closed.
    private let companions = Mutex<[String: FileIdentity]>([:])

    /// Locks the file of this path, which is made if it is missing.
    package init(_ path: String) throws(StoreOpenError) {
        self.path = path
        lock = try Self.pathLock(path)
        // Made here, because SQLite would let everybody read it.
        file = try Self.lock(path)
    }

    private static func lock(_ path: String) throws(StoreOpenError) -> LockedFile {
        do throws(LockedFile.Failure) {
            return try LockedFile.lock(path)
        } catch {
            switch error {
            case .held: throw .locked(path: path)
            case .hasOtherNames: throw .hasOtherNames(path: path)
            case .system(let error): throw .unwritable(path: path, reason: error.reason)
            }
        }
    }

    private static func pathLock(_ path: String) throws(StoreOpenError) -> FileLock {
        do throws(FileLock.Failure) {
            return try FileLock(path: path + ".lock")
        } catch {
            switch error {
            case .held: throw .locked(path: path)
            case .system(let error): throw .unwritable(path: path, reason: error.reason)
            }
        }
    }

    /// Whether what is written is lost: asked before every transaction.
    package var isNameless: Bool { file.isNameless }

    /// What happened to the files, if they are not where they were; nil if all is well.
    package var displacement: String? {
        guard file.isInPlace else { return "\(path) was removed, moved or replaced while the server runs" }
        return companions.withLock { companions in
            for suffix in ["-wal", "-shm"] {
                let found = FileIdentity(path + suffix)
                guard let known = companions[suffix] else {
                    companions[suffix] = found
                    continue
                }
                guard known == found else {
                    return "\(path)\(suffix) was removed, moved or replaced while the server runs"
                }
            }
            return nil
        }
    }
}
