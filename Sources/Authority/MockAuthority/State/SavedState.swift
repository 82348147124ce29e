import Basics
import JSON
import OpenSSL
import Platform

/// The contents of a state folder.
struct SavedState: Sendable {
    var keys = KeyRing.State()
    /// `nil` if no account was ever changed.
    var users: [User]?
    /// The key of ``GrantSeal``, saved so that refresh tokens outlive a restart.
    var secret: [UInt8] = SecureRandom.bytes(secretLength)

    private static let secretLength = 32
    /// Claims of users have been parsed before, so the files hold at most a few levels more than one body may have.
    private static let limits = JSONLimits(bytes: .max, depth: 40)

    init() {}

    /// Reads a folder; what is missing is created.
    init(_ folder: StateFolder) throws(OperatorError) {
        if let bytes = try folder.read("secret") { secret = bytes } else { try folder.write("secret", secret) }
        guard secret.count == Self.secretLength else { throw .unreadable(file: folder.file("secret")) }
        if let bytes = try folder.read("keys.json") {
            let unreadable = OperatorError.unreadable(file: folder.file("keys.json"))
            let value = try rethrowing(as: { _ in unreadable }) { () throws(JSONError) in
                try JSONValue(parsing: bytes)
            }
            guard let keys = KeyRing.State(saved: value), keys.published.isEmpty || keys.signing != nil else {
                throw unreadable
            }
            self.keys = keys
        }
        if let bytes = try folder.read("users.json") {
            let unreadable = OperatorError.unreadable(file: folder.file("users.json"))
            users = try rethrowing(as: { _ in unreadable }) { () throws(InputError) in
                let file = try ConfigurationMember.root(bytes, limits: Self.limits)
                try file.allow(["users"])
                return try file.list("users")?.map(User.init(member:))
            }
        }
    }
}

extension StateFolder {
    /// Saves the keys; a full disk is only reported, since the authority still works.
    func save(_ keys: KeyRing.State) {
        save("keys.json", keys.saved)
    }

    func save(_ users: [User]) {
        save("users.json", ["users": .array(users.map(\.json))])
    }

    private func save(_ name: String, _ value: JSONValue) {
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
