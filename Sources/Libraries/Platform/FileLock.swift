import Basics
private import Glibc

/// The right to be the only program that uses a file.
///
/// The lock belongs to the opening of the file ("open file description"), so it also keeps two stores of one program
/// apart. The kernel releases the lock when the program ends, however it ends.
package struct FileLock: ~Copyable, Sendable {
    /// The part of the file that is locked.
    package enum Extent: Sendable {
        /// The whole of an empty file, which exists only for its lock.
        ///
        /// The file stays: removing it would let two programs lock two files of the same name.
        case whole
        /// One byte of a database, far beyond those that SQLite locks, which begin at 2^30.
        ///
        /// So the database is locked under any name and through any mount. **Close no other descriptor of a database
        /// while SQLite has it open**, that of the lock included: the system would give up the locks that SQLite holds.
        case databaseByte
    }

    /// Why there is no lock.
    package enum Failure: Error, Equatable, Sendable {
        /// Another program, or another part of this one, holds the lock.
        case held
        /// The database has other names (hard links).
        case hasOtherNames
        /// The file could not be made or locked.
        case system(SystemError)
    }

    private let path: String
    private let extent: Extent
    private let file: FileDescriptor
    private let identity: FileIdentity

    /// Locks the file of this path, or fails at once; only its owner may read a file that is made.
    package init(path: String, _ extent: Extent = .whole) throws(Failure) {
        let file = try rethrowing(as: Failure.system) { () throws(SystemError) in
            try FileDescriptor.regular(path, O_RDWR | O_CREAT)
        }
        guard let facts = file.facts else { throw .system(.last("look at '\(path)'")) }
        guard extent == .whole || facts.st_nlink <= 1 else { throw .hasOtherNames }
        guard extent.set(true, on: file.number) else {
            throw [EAGAIN, EACCES].contains(errno) ? .held : .system(.last("lock '\(path)'"))
        }
        self.path = path
        self.extent = extent
        self.file = file
        identity = FileIdentity(facts)
    }

    deinit {
        // A child that was just forked shares this opening until it runs its program, so closing alone may not unlock.
        _ = extent.set(false, on: file.number)
    }

    /// Whether the file has no name any more, so that anything written to it is lost.
    package var isNameless: Bool {
        // Some file systems do not count names.
        file.facts?.st_nlink == 0 && !isInPlace
    }

    /// What a write to the file changes; nil if the system cannot say.
    package var stamp: FileStamp? { file.facts.map { FileStamp($0) } }

    /// Whether the path still leads to the file.
    package var isInPlace: Bool { FileIdentity(path) == identity }
}

extension FileLock.Extent {
    /// Sets or removes the lock of an opening; returns false with the reason in `errno`.
    fileprivate func set(_ isLocked: Bool, on descriptor: Int32) -> Bool {
        guard self == .databaseByte else { return flock(descriptor, isLocked ? LOCK_EX | LOCK_NB : LOCK_UN) == 0 }
        var range = Glibc.flock()
        range.l_type = Int16(isLocked ? F_WRLCK : F_UNLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 1 << 62
        range.l_len = 1
        // `F_OFD_SETLK`, which Swift does not import.
        return unsafe fcntl(descriptor, 37, &range) == 0
    }
}

/// The numbers that distinguish a file from all others, as long as it is open.
package struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Reads the identity of the file of this path, if there is one.
    package init?(_ path: String) {
        guard let facts = File.facts(of: path) else { return nil }
        self.init(facts)
    }

    fileprivate init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        number = UInt64(facts.st_ino)
    }
}

/// The length of a file, and the time of the last write to it.
package struct FileStamp: Equatable, Sendable {
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    fileprivate init(_ facts: stat) {
        (size, seconds, nanoseconds) = (Int(facts.st_size), facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
    }
}
