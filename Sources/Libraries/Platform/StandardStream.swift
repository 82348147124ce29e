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
