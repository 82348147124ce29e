public import Platform

/// A folder in which an authority keeps what outlives it: keys, accounts, its certificate.
public struct StateFolder: Sendable {
    /// Where it is.
    public let path: String

    /// Opens the folder, or makes it.
    public init(_ path: String) throws(SystemError) {
        self.path = path
        try Folder.createIfMissing(path)
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
    public func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// Why a state folder cannot be used.
public enum StateFailure: Error, Equatable, Sendable {
    /// The system refused.
    case system(SystemError)
    /// A file of it is not what this program writes.
    case unreadable(file: String)
    /// A key could not be made.
    case key

    /// One sentence for the operator.
    public var explanation: String {
        switch self {
        case .system(let error): "\(error)"
        case .unreadable(let file): "\(file) is not as this program writes it; remove it to begin anew."
        case .key: "a key could not be made"
        }
    }
}
