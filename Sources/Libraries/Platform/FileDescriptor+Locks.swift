private import Glibc

/// Locks of one opening of a file ("open file description"): other openings of the same program are others, too.
extension FileDescriptor {
    /// `F_OFD_GETLK` and `F_OFD_SETLK`, which Swift does not import.
    private static let (getLock, setLock): (Int32, Int32) = (36, 37)

    /// Sets (`F_WRLCK`) or removes (`F_UNLCK`) the lock on these bytes; no count means all that follow.
    ///
    /// - Returns: false with the reason in `errno`, such as another opening that has locked one of them.
    borrowing func setLock(_ kind: Int32, at position: Int, count: Int = 1) -> Bool {
        var range = Self.range(kind, at: position, count: count)
        return unsafe fcntl(number, Self.setLock, &range) == 0
    }

    /// Whether another opening has locked the byte; also false if the system cannot tell.
    borrowing func isLockedByAnother(at position: Int) -> Bool {
        var range = Self.range(F_WRLCK, at: position, count: 1)
        return unsafe fcntl(number, Self.getLock, &range) == 0 && range.l_type != Int16(F_UNLCK)
    }

    private static func range(_ kind: Int32, at position: Int, count: Int) -> Glibc.flock {
        var range = Glibc.flock()
        range.l_type = Int16(kind)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = position
        range.l_len = count
        return range
    }
}
