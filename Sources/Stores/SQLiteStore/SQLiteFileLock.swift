package import Basics
import Platform
import Synchronization
import Tasks

/// The right of a server to be the only one on a database file, and a watch for the loss or change of the file.
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
        // The file is created here, because SQLite would let every user read it.
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

    /// The fault of the files, for the operator; nil if they are in their place, and nobody else wrote to the database.
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

/// Notices that another program wrote to a database file in place, as `cp` does with a copy.
///
/// With a log, SQLite writes to the file only in checkpoints. Each checkpoint of any program moves the marks in the
/// index of the log (sqlite.org/walformat.html). So a file that changed while the marks stayed was overwritten.
struct OverwriteWatch: ~Copyable {
    /// The salts of the log, and the counts of the pages that are in the file and that may be in it.
    struct Marks: Equatable {
        let salts: [UInt8]
        let copied: [UInt8]
        let attempted: [UInt8]

        /// Whether a checkpoint is under way, or ended in the middle: it may write at any time.
        var isCopying: Bool { copied != attempted }
    }

    private var index: WatchedFile?
    private var marks: Marks?
    /// The file as it was after the marks had lasted from one look to the next; nil before.
    private var stamp: FileStamp?
    private var isOverwritten = false

    init() {}

    /// Looks at the file and the index of its log; returns whether the file was ever overwritten.
    mutating func look(at file: borrowing FileLock, index path: String) -> Bool {
        if index == nil { index = try? WatchedFile(path) }
        let earlier = readMarks()
        let stamp = file.stamp
        guard let marks = readMarks(), marks == earlier, let stamp else { return isOverwritten }
        return note(marks, stamp)
    }

    /// Notes the marks and the file of a look; returns whether the file was ever overwritten.
    mutating func note(_ marks: Marks, _ stamp: FileStamp) -> Bool {
        let isComparable = marks == self.marks && !marks.isCopying
        if isComparable, let known = self.stamp, known != stamp { isOverwritten = true }
        self.marks = marks
        self.stamp = isComparable ? stamp : nil
        return isOverwritten
    }

    private func readMarks() -> Marks? {
        guard let bytes = index?.bytes(at: 0, count: 132), bytes.count == 132 else { return nil }
        return Marks(
            salts: Array(bytes[32..<40]), copied: Array(bytes[96..<100]), attempted: Array(bytes[128..<132]))
    }
}
