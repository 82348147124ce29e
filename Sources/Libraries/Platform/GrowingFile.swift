private import Glibc

/// A file that is written at its end, and can be gone on with by a later run of the program.
///
/// Only one program at a time has it: another is refused. It belongs to its owner alone.
package struct GrowingFile: ~Copyable {
    private let path: String
    private let lock: FileLock
    private let file: FileDescriptor

    /// Opens the file of this path; makes an empty one if it is missing.
    package static func open(_ path: String) throws(FileLock.Failure) -> GrowingFile {
        let lock = try FileLock(path: path)
        do throws(SystemError) {
            let file = try FileDescriptor(opening: path, O_WRONLY | O_APPEND)
            return GrowingFile(path: path, lock: lock, file: file)
        } catch {
            throw .system(error)
        }
    }

    /// Writes behind what is there.
    package borrowing func append(_ bytes: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try file.writeAll(bytes)
        } catch {
            throw SystemError(code: error.code, operation: "write '\(path)'")
        }
    }

    /// Forgets what stands behind so many bytes.
    package borrowing func cut(to count: Int) throws(SystemError) {
        guard unsafe truncate(path, count) == 0 else { throw .last("cut '\(path)'") }
    }
}
