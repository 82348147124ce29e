import Glibc

/// A folder of one test, removed with everything in it at the end.
package final class TemporaryFolder: Sendable {
    /// Where it is.
    package let path: String

    /// A new, empty one.
    package init() throws {
        path = try ChildProcess.temporaryFolder()
    }

    deinit {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink(file(name))
        }
        closedir(folder)
        rmdir(path)
    }

    /// The path of something in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }
}
