import Glibc

/// A folder of one test, removed with everything in it at the end.
package final class TemporaryFolder: Sendable {
    /// Where it is.
    package let path: String

    /// A new, empty one.
    package init() throws {
        path = try ChildProcess.temporaryFolder()
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            // A link to a folder is removed here, and not followed.
            if unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        }
        closedir(folder)
        rmdir(path)
    }

    /// The path of something in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }
}
