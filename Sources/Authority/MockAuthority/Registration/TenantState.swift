package import Basics
import JSON
import OpenSSL
package import Platform

/// The state of a tenant: its keys, its accounts, and the secret of its grants.
struct TenantState: Sendable {
    private(set) var keys = KeyRing.State()
    /// `nil` if no account was ever changed.
    private var users: [User]?
    /// The key of ``GrantSeal``, saved so that refresh tokens outlive a restart.
    private(set) var secret = SecureRandom.bytes(secretLength)
    private(set) var saveKeys: @Sendable (KeyRing.State) -> Void = { _ in }
    private var saveUsers: @Sendable ([User]) -> Void = { _ in }

    private static let secretLength = 32
    /// Claims of users have been parsed before, so the files hold at most a few levels more than one body may have.
    private static let limits = JSONLimits(bytes: .max, depth: 40)

    /// Nothing is kept.
    init() {}

    /// Reads a folder, in which what is missing is created, and keeps everything in it.
    init(in folder: StateFolder) throws(OperatorError) {
        saveKeys = { folder.save("keys.json", $0.saved) }
        saveUsers = { folder.save("users.json", ["users": .array($0.map(\.json))]) }
        if let bytes = try folder.read("secret") { secret = bytes } else { try folder.write("secret", secret) }
        guard secret.count == Self.secretLength else { throw .unreadable(file: folder.file("secret")) }
        if let bytes = try folder.read("keys.json") {
            guard let value = try? JSONValue(parsing: bytes), let keys = KeyRing.State(saved: value),
                keys.published.isEmpty || keys.signing != nil
            else { throw .unreadable(file: folder.file("keys.json")) }
            self.keys = keys
        }
        if let bytes = try folder.read("users.json") {
            let unreadable = OperatorError.unreadable(file: folder.file("users.json"))
            users = try rethrowing(as: { _ in unreadable }) { () throws(InputError) in
                let file = try ConfigurationMember.root(bytes, limits: Self.limits)
                try file.allow(["users"])
                return try file.list("users")?.map { member throws(InputError) in try User(member: member) }
            }
        }
    }

    /// The accounts that were kept, then those of the configuration that are new.
    func directory(of configuration: Configuration) -> Directory {
        let kept = users ?? []
        let more = configuration.users.filter { user in !kept.contains { $0.objectID == user.objectID } }
        return Directory(kept + more, changed: saveUsers)
    }
}

extension StateFolder {
    /// Saves a file; a full disk is only reported, since the authority still works.
    fileprivate func save(_ name: String, _ value: JSONValue) {
        do throws(OperatorError) {
            try write(name, value.serialized())
        } catch {
            StandardStream.error.print("mock-authority: \(error.message)")
        }
    }
}

extension KeyRing.State {
    fileprivate var saved: JSONValue {
        .array(
            all.map { key, use in
                [
                    "state": .string(use.rawValue), "kid": .string(key.identifier), "nbf": .integer(key.notBefore),
                    "pem": .string(key.privateKey.pem),
                ]
            })
    }

    fileprivate init?(saved: JSONValue) {
        self.init()
        guard let entries = saved.array else { return nil }
        for entry in entries {
            guard let members = entry.object, let state = members["state"]?.string,
                let nbf = members["nbf"]?.integer, let pem = members["pem"]?.string,
                let key = try? PrivateKey(pem: pem)
            else { return nil }
            let signing = TokenSigningKey(key, notBefore: nbf, name: members["kid"]?.string)
            if state == Use.retired.rawValue { retired.append(signing) } else { published.append(signing) }
            if state == Use.active.rawValue { active = signing.identifier }
        }
    }
}

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
