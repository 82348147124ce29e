import Glibc

/// An open file, socket or pipe, which is closed at the end of the value.
///
/// Reading and writing are continued after a signal interrupted them.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The number of the descriptor, which this value owns: a caller must not close it.
    let number: Int32

    /// The facts that the system has of the object; if it has none, nil with the reason in `errno`.
    var facts: stat? {
        var facts = stat()
        return unsafe fstat(number, &facts) == 0 ? facts : nil
    }

    /// Takes over a descriptor that no one else closes.
    init(takingOwnershipOf number: Int32) {
        self.number = number
    }

    deinit {
        _ = close(number)
    }

    /// Opens a file with the flags of `open(2)`; children do not inherit it.
    init(opening path: String, _ flags: Int32, mode: UInt32 = 0o600) throws(SystemError) {
        let number = unsafe open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw .last("open '\(path)'") }
        self.init(takingOwnershipOf: number)
    }

    /// Opens a regular file, or makes one; anything else under the name is refused at once.
    ///
    /// Opening a pipe would wait for its other end, and opening a device may do anything.
    static func regular(_ path: String, _ flags: Int32) throws(SystemError) -> FileDescriptor {
        if let kind = File.otherKind(path) { throw .noFile(path, kind) }
        // Another object may have taken the name meanwhile.
        let file = try FileDescriptor(opening: path, flags | O_NONBLOCK | O_NOCTTY)
        if let kind = file.facts.flatMap({ File.otherKind(mode: $0.st_mode) }) { throw .noFile(path, kind) }
        return file
    }

    /// Returns all bytes from here to the end, or to the limit.
    borrowing func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        var all: [UInt8] = []
        while all.count < limit {
            let piece = try readSome(min(1 << 14, limit - all.count))
            if piece.isEmpty { break }
            all += piece
        }
        return all
    }

    /// Returns the bytes that can be read now, up to this many; no bytes at the end.
    borrowing func readSome(_ most: Int) throws(SystemError) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: most)
        while true {
            let count = unsafe read(number, &piece, most)
            if count >= 0 { return Array(piece.prefix(count)) }
            guard errno == EINTR else { throw .last("read") }
        }
    }

    borrowing func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        try Platform.write(bytes, to: number)
    }

    /// Waits until all written bytes are on the disk.
    borrowing func synchronize() throws(SystemError) {
        guard fsync(number) == 0 else { throw .last("synchronize") }
    }
}

/// A file whose bytes are read again and again by one opening.
///
/// Closing another descriptor of a file would give up the locks that SQLite holds on it.
package struct WatchedFile: ~Copyable, Sendable {
    private let file: FileDescriptor

    package init(_ path: String) throws(SystemError) { file = try .regular(path, O_RDONLY) }

    /// Returns the bytes from this offset; fewer at the end of the file, or if they cannot be read.
    package borrowing func bytes(at offset: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe pread(file.number, &bytes, count, offset)
        return Array(bytes.prefix(max(found, 0)))
    }
}

/// Writes all bytes to a descriptor that stays open, and waits while the descriptor takes no more.
func write(_ bytes: [UInt8], to number: Int32) throws(SystemError) {
    var start = 0
    while start < bytes.count {
        let count = unsafe bytes.withUnsafeBytes { all in
            unsafe Glibc.write(number, all.baseAddress?.advanced(by: start), all.count - start)
        }
        if count >= 0 {
            start += count
        } else if errno == EAGAIN {
            var waiting = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&waiting, 1, -1)
        } else if errno != EINTR {
            throw .last("write")
        }
    }
}

/// One of the three streams that a program is started with.
package enum StandardStream: Sendable {
    case input, output, error

    private var number: Int32 {
        switch self {
        case .input: STDIN_FILENO
        case .output: STDOUT_FILENO
        case .error: STDERR_FILENO
        }
    }

    /// Whether the stream is a terminal, which a person sees, and no file or pipe.
    package var isTerminal: Bool { isatty(number) == 1 }

    /// Writes all bytes, and waits for a slow reader.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try Platform.write(bytes, to: number)
    }

    /// Writes a text for a person; a failure is ignored, because it could be reported to nobody.
    package func print(_ text: String) {
        try? write(Array((text + "\n").utf8))
    }

    /// Returns all bytes up to the end of the stream, or to the limit.
    package func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        try copy().readAll(limit: limit)
    }

    /// Returns another descriptor of the stream, which can be closed.
    func copy() throws(SystemError) -> FileDescriptor {
        let copy = dup(number)
        guard copy >= 0 else { throw .last("read") }
        return FileDescriptor(takingOwnershipOf: copy)
    }
}
