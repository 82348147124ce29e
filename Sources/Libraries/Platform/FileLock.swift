import Basics
private import Glibc

/// An exclusive lock that one program holds through an empty file.
///
/// The kernel releases the lock when the program ends, however it ends. The file stays and has no meaning by itself:
/// removing it would let two programs lock two files of the same name.
package struct FileLock: ~Copyable, Sendable {
    /// Why there is no lock.
    package enum Failure: Error, Equatable, Sendable {
        /// Another program, or another part of this one, holds the lock.
        case held
        /// The file could not be made or locked.
        case system(SystemError)
    }

    private let file: FileDescriptor

    /// Takes the lock of the file of this path, or fails at once.
    package init(path: String) throws(Failure) {
        file = try Self.locked(path)
    }

    private static func locked(_ path: String) throws(Failure) -> FileDescriptor {
        let file = try rethrowing(as: Failure.system) { () throws(SystemError) in
            try FileDescriptor.regular(path, O_RDWR | O_CREAT)
        }
        // flock, not fcntl: locks of flock belong to this opening of the file, so they also keep two stores of one
        // program apart, and no other close of the file releases them.
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .held : .system(.last("lock '\(path)'"))
        }
        return file
    }

    deinit {
        // A child that was just forked shares this opening until it runs its program, so closing alone may not unlock.
        _ = flock(file.number, LOCK_UN)
    }
}
