import Basics
import Glibc

/// Reading and replacing whole small files, such as settings, secrets and caches.
package enum File {
    /// Returns all bytes of a regular file; refuses anything else at once, and a file that is longer than the limit.
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
    /// the name when the bytes are on the disk. The old file is unchanged if an error is thrown.
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

extension File {
    /// Makes an empty file that only its owner may read, unless there is one.
    package static func createIfMissing(_ path: String) throws(SystemError) {
        _ = try FileDescriptor.regular(path, O_RDWR | O_CREAT)
    }

    /// Gives a finished file its name, which must be free, in one step that survives a power cut.
    package static func publish(_ partial: String, as path: String) throws(SystemError) {
        try FileDescriptor(opening: partial, O_RDWR).synchronize()
        // A link fails if the name is taken, while a rename would replace the other file.
        guard unsafe Glibc.link(partial, path) == 0 else { throw .last("create '\(path)'") }
        _ = unsafe unlink(partial)
        try synchronizeFolder(of: path)
    }

    /// Puts a finished file in the place of another one, if there is one, in one step that survives a power cut.
    package static func move(_ path: String, to name: String) throws(SystemError) {
        try FileDescriptor(opening: path, O_RDWR).synchronize()
        guard unsafe rename(path, name) == 0 else { throw .last("rename '\(path)'") }
        try synchronizeFolder(of: name)
    }

    /// Gives a file a second name (a hard link), which must be free.
    package static func link(_ path: String, as name: String) throws(SystemError) {
        guard unsafe Glibc.link(path, name) == 0 else { throw .last("create '\(name)'") }
        try synchronizeFolder(of: name)
    }

    /// Gives a file the owner, the group and the permissions of another file.
    package static func copyPermissions(of other: String, to path: String) throws(SystemError) {
        guard let facts = facts(of: other) else { throw .last("open '\(other)'") }
        guard unsafe chown(path, facts.st_uid, facts.st_gid) == 0, unsafe chmod(path, facts.st_mode & 0o7777) == 0
        else { throw .last("give the owner of '\(other)' to '\(path)'") }
    }

    /// Removes a file, if there is one that can be removed.
    package static func remove(_ path: String) {
        _ = unsafe unlink(path)
    }

    /// Returns why this program may not write a file that exists; nil if it may, or if there is none.
    ///
    /// Nothing is opened, because closing a file gives up all locks of SQLite on it.
    package static func obstacle(toWriting path: String) -> String? {
        guard exists(path), unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 else { return nil }
        return SystemError.last("write").reason
    }

    /// Returns why no file can be made in the folder of this one, and what to do; nil if one can.
    package static func obstacle(toMaking path: String) -> String? {
        let (probe, folder) = ("\(path).check", folder(of: path))
        guard exists(folder) else { return "there is no folder \(folder); make it, or correct the path" }
        defer { remove(probe) }
        do throws(SystemError) {
            try replace(probe, with: [])
            return nil
        } catch {
            return "\(error.reason); the server's user must be able to write in the folder \(folder)"
        }
    }

    /// Returns whether something has this name.
    package static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// Returns the kind of an object that is no regular file (`a pipe`, `a folder`); nil for a file or a free name.
    package static func otherKind(_ path: String) -> String? {
        facts(of: path).flatMap { otherKind(mode: $0.st_mode) }
    }

    static func otherKind(mode: UInt32) -> String? {
        switch mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "a folder"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    /// Returns how many names (hard links) a file has; nil if there is no file.
    package static func names(_ path: String) -> Int? {
        facts(of: path).map { Int($0.st_nlink) }
    }

    /// Returns how many bytes a file has; nil for pipes and devices.
    package static func size(_ path: String) throws(SystemError) -> Int? {
        guard let facts = facts(of: path) else { throw .last("open '\(path)'") }
        return facts.st_mode & S_IFMT == S_IFREG ? Int(facts.st_size) : nil
    }

    /// Returns what the system knows of the object of this name; nil with the reason in `errno`.
    static func facts(of path: String) -> stat? {
        var facts = stat()
        return unsafe fstatat(AT_FDCWD, path, &facts, 0) == 0 ? facts : nil
    }

    /// Returns the folder of a file, with a slash at its end.
    package static func folder(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.isEmpty ? "./" : parts.joined(separator: "/") + "/"
    }

    /// Returns whether two paths lead to one file, or will lead to one when the file is made.
    package static func isSame(_ path: String, as other: String) -> Bool {
        if let identity = FileIdentity(path), identity == FileIdentity(other) { return true }
        return target(of: path) == target(of: other)
    }

    /// Returns where a file is, or will be when it is made, without symbolic links.
    package static func target(of path: String) -> String {
        var path = path
        // The system itself follows as many links.
        for _ in 0..<40 where !exists(path) {
            guard let link = content(ofLink: path) else { break }
            path = link.hasPrefix("/") ? link : folder(of: path) + link
        }
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        return exists(path) ? resolved(path) : "\(resolved(folder(of: path)))/\(name)"
    }

    /// Returns the path in a symbolic link; nil if there is no link.
    private static func content(ofLink path: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &text, text.count)
        return count > 0 ? String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Returns the path without symbolic links; the path itself if it does not lead anywhere yet.
    package static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
