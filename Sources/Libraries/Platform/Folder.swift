private import Glibc

/// Folders of files that are read at start, and of files that a program keeps.
package enum Folder {
    /// Makes a folder that only its owner may open, unless there is one; the folders above must exist.
    package static func createIfMissing(_ path: String) throws(SystemError) {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last("make the folder '\(path)'") }
    }

    /// Makes a new folder among the system's temporary files, which only its owner may open; returns its path.
    package static func makeTemporary(_ name: String) throws(SystemError) -> String {
        let place = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        guard let path = unsafe strdup("\(place)/\(name)-XXXXXX") else { throw .last("make a folder") }
        defer { unsafe free(path) }
        guard unsafe mkdtemp(path) != nil else { throw .last("make a folder in '\(place)' (TMPDIR)") }
        return unsafe String(cString: path)
    }

    /// Removes a folder and the files in it.
    package static func remove(_ path: String) {
        for name in (try? names(in: path)) ?? [] { File.remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }

    /// The deepest nesting, which ends a cycle of links.
    private static let deepest = 8

    /// Returns the sorted paths of all files below a folder, as `pictures/logo.svg`, without hidden ones.
    package static func files(below path: String) throws(SystemError) -> [String] {
        try files(below: path, prefix: "", depth: 0).sorted()
    }

    private static func files(below path: String, prefix: String, depth: Int) throws(SystemError) -> [String] {
        guard depth < deepest else { return [] }
        var found: [String] = []
        for name in try names(in: path) where !name.hasPrefix(".") {
            guard let facts = File.facts(of: "\(path)/\(name)") else { continue }
            switch facts.st_mode & S_IFMT {
            case S_IFREG: found.append(prefix + name)
            case S_IFDIR: found += try files(below: "\(path)/\(name)", prefix: "\(prefix)\(name)/", depth: depth + 1)
            default: break
            }
        }
        return found
    }

    /// Returns the names of all entries of a folder, `.` and `..` too.
    static func names(in path: String) throws(SystemError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw .last("open '\(path)'") }
        defer { _ = unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }
}
