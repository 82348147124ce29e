import Basics
private import Glibc

/// The right to be the only program that uses a file, under any name and through any mount.
///
/// The lock belongs to the opening ("open file description"), and is on one byte far beyond those that SQLite locks,
/// which begin at 2^30. **Close no other descriptor of a database while SQLite has it open**, this one included: the
/// system would give up the locks that SQLite holds.
package struct LockedFile: ~Copyable, Sendable {
    /// Why there is no lock.
    package enum Failure: Error, Equatable, Sendable {
        /// Another program, or another part of this one, holds the lock.
        case held
        /// The file has other names (hard links).
        case hasOtherNames
        /// The file could not be made or locked.
        case system(SystemError)
    }

    private static let position = 1 << 62

    private let path: String
    private let file: FileDescriptor
    private let identity: FileIdentity

    /// Locks the file of this path, or fails at once; only its owner may read a file that is made.
    package static func lock(_ path: String) throws(Failure) -> LockedFile {
        let file = try rethrowing(as: Failure.system) { () throws(SystemError) in
            try FileDescriptor.regular(path, O_RDWR | O_CREAT)
        }
        var facts = stat()
        guard unsafe fstat(file.number, &facts) == 0 else { throw .system(.last("look at '\(path)'")) }
        guard facts.st_nlink <= 1 else { throw .hasOtherNames }
        guard file.setLock(F_WRLCK, at: position) else {
            throw errno == EAGAIN || errno == EACCES ? .held : .system(.last("lock '\(path)'"))
        }
        return LockedFile(
            path: path, file: file,
            identity: FileIdentity(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino)))
    }

    private init(path: String, file: consuming FileDescriptor, identity: FileIdentity) {
        self.path = path
        self.file = file
        self.identity = identity
    }

    deinit {
        // A child that was just forked shares this opening until it runs its program, so closing alone may not unlock.
        _ = file.setLock(F_UNLCK, at: Self.position)
    }

    /// Whether the file has no name any more, so that anything written to it is lost.
    package var isNameless: Bool {
        var facts = stat()
        // Some file systems do not count names.
        return unsafe fstat(file.number, &facts) == 0 && facts.st_nlink == 0 && !isInPlace
    }

    /// Whether the path still leads to the file.
    package var isInPlace: Bool { FileIdentity(path) == identity }
}

/// The numbers that distinguish a file from all others, as long as it is open.
package struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Reads the identity of the file of this path, if there is one.
    package init?(_ path: String) {
        var facts = stat()
        guard unsafe fstatat(AT_FDCWD, path, &facts, 0) == 0 else { return nil }
        self.init(device: UInt64(facts.st_dev), number: UInt64(facts.st_ino))
    }

    fileprivate init(device: UInt64, number: UInt64) {
        self.device = device
        self.number = number
    }
}
