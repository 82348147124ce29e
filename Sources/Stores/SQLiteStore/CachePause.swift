import Basics
import Platform
package import Tasks

/// A time in which the server of a database caches no lists, because another program changes the tasks of many owners.
///
/// The server looks once a second whether it is asked to, and when it opens the database; it confirms when its cache is
/// empty. Both are marks on the lock file (``FileMarks``), so that the end of either program ends them, too.
package struct CachePause: ~Copyable, Sendable {
    /// The marks on the lock file.
    enum Mark {
        static let request = 0
        static let confirmation = 1
    }

    /// Why the cache of the server is not known to be empty.
    package enum Failure: Error, Equatable {
        /// Another program has asked for a pause, and has not ended.
        case taken
        /// The server has not confirmed in time.
        case unconfirmed
        case database(StoreOpenError)
    }

    private let marks: FileMarks
    /// Held if no server runs, so that none starts before the pause ends.
    private let lock: SQLiteFileLock?

    /// Whether a server runs on the database.
    package var hasServer: Bool { lock == nil }

    /// Begins a pause on this database, and waits until its server has confirmed it, if there is one.
    package static func begin(
        on file: SQLiteFile, withinSeconds seconds: Int = 20
    ) throws(Failure) -> CachePause {
        let marks = try rethrowing(as: { Failure.database(.unwritable(path: file.path, reason: $0.reason)) }) {
            () throws(SystemError) in try FileMarks(path: SQLiteFileLock.lockFile(of: file.path))
        }
        // First the request, then the look for a server: one that starts in between finds the request.
        guard marks.set(Mark.request) else { throw .taken }
        let time = SystemTime()
        let end = time.monotonicNanoseconds + UInt64(seconds) * 1_000_000_000
        while true {
            let lock = try rethrowing(as: Failure.database) { () throws(StoreOpenError) in try file.lockIfFree() }
            if let lock { return CachePause(marks: marks, lock: lock) }
            if marks.isSetByAnother(Mark.confirmation) { return CachePause(marks: marks, lock: nil) }
            guard time.monotonicNanoseconds < end else { throw .unconfirmed }
            time.sleep(nanoseconds: 20_000_000)
        }
    }
}
