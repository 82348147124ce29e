import Platform
import TaskAPI

/// The files of the page, read into memory.
enum PublicFiles {
    /// A page is small; a folder that is not meant is refused before it fills the memory.
    private static let most = 64 << 20

    /// The files of the folder by their path below it.
    static func read(_ folder: PublicFolder) throws(SystemError) -> [String: PublicFile] {
        switch folder {
        case .none: return [:]
        case .required(let path): return try read(path)
        case .ifPresent(let path):
            do throws(SystemError) {
                return try read(path)
            } catch {
                guard error.isMissing else { throw error }
                return [:]
            }
        }
    }

    /// The files of the page to which answers link, and which are missing.
    static func missing(in files: [String: PublicFile]) -> [String] {
        ["index.html", "openapi.json", "openapi.yaml", "problems.html"].filter { files[$0] == nil }
    }

    private static func read(_ path: String) throws(SystemError) -> [String: PublicFile] {
        var files: [String: PublicFile] = [:]
        var room = most
        for name in try Folder.files(below: path) {
            let bytes = try File.read("\(path)/\(name)", limit: room)
            room -= bytes.count
            files[name] = PublicFile(name: name, bytes: bytes)
        }
        return files
    }
}
