import Basics
package import Platform

/// A folder in which an authority keeps what outlives it: keys, accounts, its certificate.
package struct StateFolder: Sendable {
    /// The path of the folder.
    package let path: String
    /// The beginning of the names of its files.
    private var prefix = ""

    /// Opens the folder, or creates it.
    package init(_ path: String) throws(StateFolderError) {
        self.path = path
        try rethrowing(as: StateFolderError.system) { () throws(SystemError) in try Folder.createIfMissing(path) }
    }

    /// Locks the folder for one authority: two would overwrite each other's keys and accounts.
    package func lock() throws(StateFolderError) -> FileLock {
        try rethrowing(as: { StateFolderError.locking(path, $0) }) { () throws(FileLock.Failure) in
            try FileLock(path: file("lock"))
        }
    }

    /// The bytes of a file; `nil` if it does not exist.
    func read(_ name: String) throws(StateFolderError) -> [UInt8]? {
        do throws(SystemError) {
            return try File.read(file(name))
        } catch {
            if error.isMissing { return nil }
            throw .system(error)
        }
    }

    /// Replaces a file in one step.
    func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws(StateFolderError) {
        let path = file(name)
        try rethrowing(as: StateFolderError.system) { () throws(SystemError) in
            try File.replace(path, with: bytes, mode: mode)
        }
    }

    func read(text name: String) throws(StateFolderError) -> String? {
        try read(name).map { String(decoding: $0, as: UTF8.self) }
    }

    func write(_ name: String, text: String, mode: UInt32 = 0o600) throws(StateFolderError) {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// The files of a tenant beside the B2C one, whose names begin with this text.
    func part(_ prefix: String) -> StateFolder {
        var part = self
        part.prefix = prefix
        return part
    }

    package func file(_ name: String) -> String { "\(path)/\(prefix)\(name)" }
}

package enum StateFolderError: Error, Equatable, Sendable {
    case system(SystemError)
    /// A file is not as this program writes it.
    case unreadable(file: String)
    /// Another authority has locked the folder.
    case inUse(folder: String)
    /// A key could not be generated.
    case key

    fileprivate static func locking(_ path: String, _ failure: FileLock.Failure) -> StateFolderError {
        switch failure {
        case .held: .inUse(folder: path)
        case .system(let error): .system(error)
        }
    }

    /// For the operator.
    package var message: String {
        switch self {
        case .system(let error): "\(error)"
        case .unreadable(let file):
            "\(file) is not as this program writes it, or not whole; put a copy back, or remove it to begin anew."
        case .inUse(let folder):
            "another mock-authority uses the folder \(folder); stop it, or give another --state."
        case .key: "a key could not be generated"
        }
    }
}
