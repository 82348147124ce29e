package import Basics
private import Glibc

/// A new file of lines, which has another name until it is whole: its own and `.part`.
///
/// What a program that was killed has left under that name is written over. Only one program at a time can write the file;
/// only its owner may read it.
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

    /// How many bytes are written at once, and how many may wait for the disk: more would keep the commits of a server waiting
    /// for as long.
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
