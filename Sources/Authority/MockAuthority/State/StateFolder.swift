package import Platform

/// A folder in which an authority keeps what outlives it: keys, accounts, its certificate.
package struct StateFolder: Sendable {
    /// Where it is.
    package let path: String

    /// Opens the folder, or makes it.
    package init(_ path: String) throws(SystemError) {
        self.path = path
        try Folder.createIfMissing(path)
    }

    /// The right to be the only authority that keeps its state here: two would write over each other's keys and accounts.
    package func lock() throws(StateFolderError) -> FileLock {
        do throws(FileLock.Failure) {
            return try FileLock(path: file("lock"))
        } catch {
            switch error {
            case .held: throw .inUse(folder: path)
            case .system(let error): throw .system(error)
            }
        }
    }

    /// The bytes of a file; nothing if there is none.
    func read(_ name: String) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try File.read(file(name))
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Replaces a file in one step.
    func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
        try File.replace(file(name), with: bytes, mode: mode)
    }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// Why a state folder cannot be used.
package enum StateFolderError: Error, Equatable, Sendable {
    /// The system refused.
    case system(SystemError)
    /// A file of it is not what this program writes.
    case unreadable(file: String)
    /// Another authority keeps its state there.
    case inUse(folder: String)
    /// A key could not be made.
    case key

    /// One sentence for the operator.
    package var message: String {
        switch self {
        case .system(let error): "\(error)"
        case .unreadable(let file):
            "\(file) is not as this program writes it, or not whole; put a copy back, or remove it to begin anew."
        case .inUse(let folder):
            "another mock-authority uses the folder \(folder); stop it, or give another --state."
        case .key: "a key could not be made"
        }
    }
}
