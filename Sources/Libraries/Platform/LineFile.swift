package import Basics
private import Glibc

/// A new file of lines, which has another name until it is whole: its own and `.part`.
///
/// What a program that was killed has left under that name is written over. Only one program at a time can write the
/// file; only its owner may read it.
package struct LineFile: ~Copyable {
    private let path: String
    private let partial: String
    private let lock: FileLock
    private let file: FileDescriptor
    /// Lines that are written together.
    private var waiting: [UInt8] = []
    /// Written bytes that are not on the disk for certain.
    private var unsynchronized = 0
    private var isPublished = false

    /// How many bytes are written at once, and how many may wait for the disk: more would keep the commits of a server
    /// waiting for as long.
    private static let most = (written: 1 << 16, unsynchronized: 1 << 20)

    /// Begins the file of this path, which must be free.
    package static func create(_ path: String) throws(OperatorError) -> LineFile {
        let taken = OperatorError("write '\(path)': it exists, and is not replaced", advice: "give another name")
        guard !File.exists(path) else { throw taken }
        let partial = "\(path).part"
        let lock = try rethrowing(as: { (failure: FileLock.Failure) in
            switch failure {
            case .held, .hasOtherNames: OperatorError("write '\(partial)': another program is writing it")
            case .system(let error): OperatorError(error)
            }
        }) { () throws(FileLock.Failure) in try FileLock(path: partial) }
        // Another program may have finished the file since, and the lock may be on it.
        guard !File.exists(path) else { throw taken }
        let file = try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            try FileDescriptor(opening: partial, O_WRONLY | O_APPEND | O_TRUNC)
        }
        return LineFile(path: path, partial: partial, lock: lock, file: file)
    }

    private init(path: String, partial: String, lock: consuming FileLock, file: consuming FileDescriptor) {
        self.path = path
        self.partial = partial
        self.lock = lock
        self.file = file
    }

    deinit {
        if !isPublished { File.remove(partial) }
    }

    /// Adds a line, which has no end yet.
    package mutating func append(_ line: [UInt8]) throws(SystemError) {
        waiting += line
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count > Self.most.written { try flush() }
    }

    /// Gives the whole file its name.
    package mutating func publish() throws(SystemError) {
        try flush()
        try File.publish(partial, as: path)
        isPublished = true
    }

    private mutating func flush() throws(SystemError) {
        do {
            try file.writeAll(waiting)
            unsynchronized += waiting.count
            waiting.removeAll(keepingCapacity: true)
            guard unsynchronized >= Self.most.unsynchronized else { return }
            try file.synchronize()
            unsynchronized = 0
        } catch {
            throw SystemError(code: error.code, operation: "write '\(path)'")
        }
    }
}

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
            throw .noFile(path, kind)
        }
        file = try FileDescriptor(opening: path, O_RDONLY)
    }

    /// Returns the next line without LF or CRLF, the first without a byte-order mark; nil after the last line.
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
