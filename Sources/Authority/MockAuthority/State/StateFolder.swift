package import Basics
package import Platform

/// A folder in which an authority keeps what outlives it: keys, accounts, its certificate.
package struct StateFolder: Sendable {
    package let path: String
    /// The beginning of the names of its files.
    private var prefix = ""

    package init(_ path: String) throws(OperatorError) {
        self.path = path
        try rethrowing(as: OperatorError.ofState) { () throws(SystemError) in try Folder.createIfMissing(path) }
    }

    /// Locks the folder for one authority: two would overwrite each other's keys and accounts.
    package func lock() throws(OperatorError) -> FileLock {
        try rethrowing(as: { OperatorError.locking(path, $0) }) { () throws(FileLock.Failure) in
            try FileLock(path: file("lock"))
        }
    }

    /// The bytes of a file; `nil` if it does not exist.
    func read(_ name: String) throws(OperatorError) -> [UInt8]? {
        do throws(SystemError) {
            return try File.read(file(name))
        } catch {
            if error.isMissing { return nil }
            throw .ofState(error)
        }
    }

    func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws(OperatorError) {
        let path = file(name)
        try rethrowing(as: OperatorError.ofState) { () throws(SystemError) in
            try File.replace(path, with: bytes, mode: mode)
        }
    }

    func read(text name: String) throws(OperatorError) -> String? {
        try read(name).map { String(decoding: $0, as: UTF8.self) }
    }

    func write(_ name: String, text: String, mode: UInt32 = 0o600) throws(OperatorError) {
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

/// The errors of a state folder, which end the program like wrong settings.
extension OperatorError {
    private init(ofState failure: String, advice: String? = nil) {
        self.init(failure, .badSettings, advice: advice)
    }

    static let keyNotGenerated = OperatorError(ofState: "a key could not be generated")

    fileprivate static func ofState(_ error: SystemError) -> OperatorError { OperatorError(ofState: "\(error)") }

    /// A file is not as this program writes it.
    static func unreadable(file: String) -> OperatorError {
        OperatorError(
            ofState: "\(file) is not as this program writes it, or not whole",
            advice: "put a copy back, or remove it to begin anew.")
    }

    fileprivate static func locking(_ path: String, _ failure: FileLock.Failure) -> OperatorError {
        switch failure {
        case .held, .hasOtherNames:
            OperatorError(
                ofState: "another mock-authority uses the folder \(path)", advice: "stop it, or give another --state.")
        case .system(let error): .ofState(error)
        }
    }
}
