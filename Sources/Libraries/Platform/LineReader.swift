private import Basics
private import Glibc

/// The lines of a stream, one after the other, however long the stream is.
package struct LineReader: ~Copyable {
    /// The longest line; a longer one is an error, so that no input can fill the memory.
    private static let longest = 1 << 20

    private let file: FileDescriptor
    private var buffer: ArraySlice<UInt8> = []
    private var isAtEnd = false
    private var isAtStart = true

    /// Reads this stream from its position on.
    package init(_ stream: StandardStream) throws(SystemError) {
        file = try stream.copy()
    }

    /// Reads this file, or the output of this pipe.
    package init(path: String) throws(SystemError) {
        if let kind = File.otherKind(path), kind == "a folder" {
            throw SystemError(operation: "open '\(path)'", reason: "it is \(kind), not a file")
        }
        file = try FileDescriptor(opening: path, O_RDONLY)
    }

    /// Returns the next line without its end (LF or CRLF), the first without a byte-order mark; nil after the last line.
    package mutating func next() throws(SystemError) -> [UInt8]? {
        guard isAtStart else { return try line() }
        isAtStart = false
        return try line().map { Array($0.withoutByteOrderMark) }
    }

    private mutating func line() throws(SystemError) -> [UInt8]? {
        var searched = 0
        while true {
            let rest = buffer.dropFirst(searched)
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer = buffer[(end + 1)...] }
                return Self.withoutReturn(buffer[..<end])
            }
            searched = buffer.count
            guard !isAtEnd else {
                defer { buffer = [] }
                return buffer.isEmpty ? nil : Self.withoutReturn(buffer)
            }
            guard searched <= Self.longest else { throw SystemError(code: EFBIG, operation: "read a line") }
            let more = try file.readSome(1 << 16)
            isAtEnd = more.isEmpty
            buffer = Array(buffer + more)[...]
        }
    }

    private static func withoutReturn(_ line: ArraySlice<UInt8>) -> [UInt8] {
        Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
}

/// A consumer of a line, without the end of the line.
package typealias LineOutput = ([UInt8]) throws(SystemError) -> Void

/// A source of lines, each without its end; nil after the last line.
package typealias LineInput = () throws(SystemError) -> [UInt8]?
