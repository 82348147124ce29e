private import Glibc

/// Marks on a file by which programs tell each other something: locks on single bytes of it.
///
/// Each opening of the file has its own, also within one program, and loses them when it is closed, however its program
/// ends. The file needs no contents.
package struct FileMarks: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// `F_OFD_GETLK` and `F_OFD_SETLK`, which Swift does not import.
    private static let (getLock, setLock): (Int32, Int32) = (36, 37)

    /// Opens the file of this path, which is created if it is missing.
    package init(path: String) throws(SystemError) {
        file = try FileDescriptor.regular(path, O_RDWR | O_CREAT)
    }

    deinit {
        // A child that was just forked has the same opening until it runs its program, so closing ours alone may not do.
        var all = Self.range(0, F_UNLCK)
        all.l_len = 0
        _ = unsafe fcntl(file.borrowedNumber, Self.setLock, &all)
    }

    /// Sets the mark of this number; false if another opening has set it.
    package func set(_ mark: Int) -> Bool { change(mark, F_WRLCK) }

    /// Removes the mark, if this opening has set it.
    package func remove(_ mark: Int) { _ = change(mark, F_UNLCK) }

    /// Whether another opening has set the mark; also false if the system cannot tell.
    package func isSetByAnother(_ mark: Int) -> Bool {
        var range = Self.range(mark, F_WRLCK)
        return unsafe fcntl(file.borrowedNumber, Self.getLock, &range) == 0 && range.l_type != Int16(F_UNLCK)
    }

    private func change(_ mark: Int, _ kind: Int32) -> Bool {
        var range = Self.range(mark, kind)
        return unsafe fcntl(file.borrowedNumber, Self.setLock, &range) == 0
    }

    private static func range(_ mark: Int, _ kind: Int32) -> Glibc.flock {
        var range = Glibc.flock()
        range.l_type = Int16(kind)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = mark
        range.l_len = 1
        return range
    }
}
