private import Glibc

/// Marks on a file by which programs tell each other something: locks on single bytes of it.
///
/// Each opening of the file has its own, also within one program, and loses them when it is closed, however its program
/// ends. The file needs no contents.
package struct FileMarks: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// Opens the file of this path, which is created if it is missing.
    package init(path: String) throws(SystemError) {
        file = try FileDescriptor.regular(path, O_RDWR | O_CREAT)
    }

    deinit {
        // A child that was just forked has the same opening until it runs its program, so closing ours alone may not do.
        _ = file.setLock(F_UNLCK, at: 0, count: 0)
    }

    /// Sets the mark of this number; false if another opening has set it.
    package func set(_ mark: Int) -> Bool { file.setLock(F_WRLCK, at: mark) }

    /// Removes the mark, if this opening has set it.
    package func remove(_ mark: Int) { _ = file.setLock(F_UNLCK, at: mark) }

    /// Whether another opening has set the mark; also false if the system cannot tell.
    package func isSetByAnother(_ mark: Int) -> Bool { file.isLockedByAnother(at: mark) }
}
