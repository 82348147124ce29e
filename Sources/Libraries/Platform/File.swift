import Basics
private import Glibc

/// Reading and replacing whole small files, such as settings, secrets and caches.
package enum File {
    /// Returns all bytes of a regular file; a pipe, a device or a folder is refused at once.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: the most bytes that it may have; a longer one is refused, not cut.
    /// - Returns: the bytes.
    /// - Throws: the error of the system, or "File too large".
    package static func read(_ path: String, limit: Int = 1 << 24) throws(SystemError) -> [UInt8] {
        let file = try FileDescriptor.regular(path, O_RDONLY)
        let bytes = try rethrowing(as: { SystemError(code: $0.code, operation: "read '\(path)'") }) {
            () throws(SystemError) in try file.readAll(limit: limit + 1)
        }
        guard bytes.count <= limit else { throw SystemError(code: EFBIG, operation: "read '\(path)'") }
        return bytes
    }

    /// Reads a whole file as text, without a byte-order mark.
    package static func text(_ path: String, limit: Int) throws(SystemError) -> String {
        String(decoding: try read(path, limit: limit).withoutByteOrderMark, as: UTF8.self)
    }

    /// Puts a file with these bytes in the place of an older one, in one step that survives a power cut.
    ///
    /// Readers see the old file or the new one, never a part. The bytes go to a file in the same folder, which takes
    /// the name when the bytes are on the disk.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytes: its whole content.
    ///   - mode: its permissions.
    /// - Throws: the error of the system; the old file is then unchanged.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        let temporary = "\(path).\(getpid()).new"
        if let kind = otherKind(path) {
            throw SystemError(operation: "write '\(path)'", reason: "it is \(kind), not a file")
        }
        // A program that had the same number and was killed may have left a file.
        _ = unsafe unlink(temporary)
        do throws(SystemError) {
            try write(bytes, toNew: temporary, mode: mode)
            guard unsafe rename(temporary, path) == 0 else { throw .last("rename") }
        } catch {
            _ = unsafe unlink(temporary)
            throw SystemError(code: error.code, operation: "write '\(path)'")
        }
        try synchronizeFolder(of: path)
    }

    private static func write(_ bytes: [UInt8], toNew path: String, mode: UInt32) throws(SystemError) {
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        try file.writeAll(bytes)
        try file.synchronize()
    }

    /// Synchronizes the folder of a file, because a rename is on the disk only when its folder is.
    static func synchronizeFolder(of path: String) throws(SystemError) {
        try FileDescriptor(opening: folder(of: path), O_RDONLY | O_DIRECTORY).synchronize()
    }
}
