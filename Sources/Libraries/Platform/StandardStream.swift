private import Glibc

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

    /// How many characters a line of the terminal has; nil if there is no terminal, or it does not say.
    package var columns: Int? {
        var size = winsize()
        guard isTerminal, unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// How many bytes are left in the file behind the stream; nil for pipes and terminals.
    package var remainingBytes: Int? {
        var facts = stat()
        guard unsafe fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, Int(facts.st_size) - max(0, Int(lseek(number, 0, SEEK_CUR))))
    }

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
