private import Glibc

extension File {
    /// Makes an empty file that only its owner may read, unless there is one.
    package static func createIfMissing(_ path: String) throws(SystemError) {
        _ = try FileDescriptor.regular(path, O_RDWR | O_CREAT)
    }

    /// Gives a finished file its name, which must be free, in one step that survives a power cut.
    package static func publish(_ partial: String, as path: String) throws(SystemError) {
        try FileDescriptor(opening: partial, O_RDWR).synchronize()
        // A link fails where the name is taken; a rename would replace the other file.
        guard unsafe link(partial, path) == 0 else { throw .last("create '\(path)'") }
        _ = unsafe unlink(partial)
        try synchronizeFolder(of: path)
    }

    /// Removes a file, if there is one that can be removed.
    package static func remove(_ path: String) {
        _ = unsafe unlink(path)
    }

    /// Whether something has this name.
    package static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// The kind of what has this name, if not a regular file: `a pipe`, `a folder`; nil if nothing has it.
    package static func otherKind(_ path: String) -> String? {
        var facts = stat()
        guard unsafe fstatat(AT_FDCWD, path, &facts, 0) == 0 else { return nil }
        return otherKind(mode: facts.st_mode)
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

    /// How many names (hard links) a file has; nil if there is none.
    package static func names(_ path: String) -> Int? {
        var facts = stat()
        return unsafe fstatat(AT_FDCWD, path, &facts, 0) == 0 ? Int(facts.st_nlink) : nil
    }

    /// How many bytes a file has; nil for pipes and devices.
    package static func size(_ path: String) throws(SystemError) -> Int? {
        var facts = stat()
        guard unsafe fstatat(AT_FDCWD, path, &facts, 0) == 0 else { throw .last("open '\(path)'") }
        return facts.st_mode & S_IFMT == S_IFREG ? Int(facts.st_size) : nil
    }

    /// The folder of a file, with a slash at its end.
    static func folder(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.isEmpty ? "./" : parts.joined(separator: "/") + "/"
    }

    /// Whether two paths lead to one file, or will when it is made.
    package static func isSame(_ path: String, as other: String) -> Bool {
        if let identity = FileIdentity(path), identity == FileIdentity(other) { return true }
        return target(of: path) == target(of: other)
    }

    /// Where a file is, or will be when it is made, without symbolic links.
    package static func target(of path: String) -> String {
        var path = path
        // As many links as the system follows.
        for _ in 0..<40 where !exists(path) {
            guard let link = content(ofLink: path) else { break }
            path = link.hasPrefix("/") ? link : folder(of: path) + link
        }
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        return exists(path) ? resolved(path) : "\(resolved(folder(of: path)))/\(name)"
    }

    /// What a symbolic link says; nil if there is none.
    private static func content(ofLink path: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &text, text.count)
        return count > 0 ? String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// The path without symbolic links, or as it is if it does not lead anywhere yet.
    package static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
