private import Glibc

extension FileDescriptor {
    /// Sets (`F_WRLCK`) or removes (`F_UNLCK`) the lock of this opening of the file ("open file description") on a byte.
    ///
    /// Other openings of the same program are others, too.
    ///
    /// - Returns: false with the reason in `errno`, such as another opening that has locked the byte.
    borrowing func setLock(_ kind: Int32, at position: Int) -> Bool {
        var range = Glibc.flock()
        range.l_type = Int16(kind)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = position
        range.l_len = 1
        // `F_OFD_SETLK`, which Swift does not import.
        return unsafe fcntl(number, 37, &range) == 0
    }
}
