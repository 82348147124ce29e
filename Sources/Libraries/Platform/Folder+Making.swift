private import Glibc

extension Folder {
    /// Makes a folder that only its owner may open, unless there is one; the folders above it must be there.
    package static func createIfMissing(_ path: String) throws(SystemError) {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last("make the folder '\(path)'") }
    }
}
