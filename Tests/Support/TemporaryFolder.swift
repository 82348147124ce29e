import Glibc
import Testing

/// A folder of one test, removed with everything in it at the end.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/task-stores-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
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

    func file(_ name: String) -> String { "\(path)/\(name)" }
}
