import Glibc

/// A folder of one test, removed with everything in it at the end.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let path: String

    /// A new, empty one.
    public init() throws {
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
    public func file(_ name: String) -> String { "\(path)/\(name)" }
}
