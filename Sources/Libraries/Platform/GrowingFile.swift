import Basics
private import Glibc
private import Synchronization

/// A file that is written at its end, and can be continued by a later run of the program.
///
/// Only one program at a time can open it; only its owner may read it.
package struct GrowingFile: ~Copyable {
    private let path: String
    private let lock: FileLock
    private let file: FileDescriptor
    /// Bytes that are not on the disk for certain.
    private let waiting = Atomic(0)

    /// How many bytes may wait for the disk: more at once would keep the commits of a server waiting for as long.
    private static let most = 1 << 20

    /// Opens the file of this path; makes an empty one if it is missing.
    package static func open(_ path: String) throws(FileLock.Failure) -> GrowingFile {
        let lock = try FileLock(path: path)
        let file = try rethrowing(as: FileLock.Failure.system) { () throws(SystemError) in
            try FileDescriptor(opening: path, O_WRONLY | O_APPEND)
        }
        return GrowingFile(path: path, lock: lock, file: file)
    }

    /// Writes at the end.
    package borrowing func append(_ bytes: [UInt8]) throws(SystemError) {
        do {
            try file.writeAll(bytes)
            guard waiting.add(bytes.count, ordering: .relaxed).newValue >= Self.most else { return }
            try file.synchronize()
            waiting.store(0, ordering: .relaxed)
        } catch {
            throw SystemError(code: error.code, operation: "write '\(path)'")
        }
    }

    /// Removes everything after this many bytes.
    package borrowing func cut(to count: Int) throws(SystemError) {
        guard unsafe truncate(path, count) == 0 else { throw .last("cut '\(path)'") }
    }
}
