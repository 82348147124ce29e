internal import JSON
internal import OpenSSL
internal import Platform

/// What a state folder holds for an authority.
struct SavedState: Sendable {
    /// The signing keys.
    var keys = KeyRing.State()
    /// The accounts; nothing if none were ever changed.
    var users: [User]?
    /// What seals grants, so that refresh tokens outlive a restart.
    var secret: [UInt8] = SecureRandom.bytes(secretLength)

    private static let secretLength = 32

    /// A state of nothing.
    init() {}

    /// Reads a folder; what is missing begins anew.
    init(_ folder: StateFolder) throws(StateFolderError) {
        do throws(SystemError) {
            if let bytes = try folder.read("secret") { secret = bytes } else { try folder.write("secret", secret) }
        } catch {
            throw .system(error)
        }
        guard secret.count == Self.secretLength else { throw .unreadable(file: folder.file("secret")) }
        if let value = try Self.json("keys.json", folder) {
            guard let keys = KeyRing.State(saved: value), keys.published.isEmpty || keys.signing != nil else {
                throw .unreadable(file: folder.file("keys.json"))
            }
            self.keys = keys
        }
        if let bytes = try Self.bytes("users.json", folder) {
            do throws(ConfigurationError) {
                users = try Configuration(parsing: bytes).users
            } catch {
                throw .unreadable(file: folder.file("users.json"))
            }
        }
    }

    private static func bytes(_ name: String, _ folder: StateFolder) throws(StateFolderError) -> [UInt8]? {
        do throws(SystemError) {
            return try folder.read(name)
        } catch {
            throw .system(error)
        }
    }

    private static func json(_ name: String, _ folder: StateFolder) throws(StateFolderError) -> JSONValue? {
        guard let bytes = try bytes(name, folder) else { return nil }
        do throws(JSONError) {
            return try JSONValue(parsing: bytes)
        } catch {
            throw .unreadable(file: folder.file(name))
        }
    }
}

extension StateFolder {
    /// Keeps the keys; a full disk is said and nothing else, since the authority can go on.
    func save(_ keys: KeyRing.State) {
        save("keys.json", keys.saved)
    }

    /// Keeps the accounts.
    func save(_ users: [User]) {
        save("users.json", ["users": .array(users.map(\.json))])
    }

    private func save(_ name: String, _ value: JSONValue) {
        do throws(SystemError) {
            try write(name, value.serialized())
        } catch {
            StandardStream.error.print("mock-authority: \(error)")
        }
    }
}

extension KeyRing.State {
    fileprivate var saved: JSONValue {
        let entries = published.map { ($0, $0.identifier == active ? "active" : "published") }
        return .array(
            (entries + retired.map { ($0, "retired") }).map { key, state in
                [
                    "state": .string(state), "kid": .string(key.identifier), "nbf": .integer(key.notBefore),
                    "pem": .string(key.privateKey.pem),
                ]
            })
    }

    fileprivate init?(saved: JSONValue) {
        self.init()
        guard let entries = saved.array else { return nil }
        for entry in entries {
            guard let members = entry.object, let state = members["state"]?.string,
                let nbf = members["nbf"]?.integer, let pem = members["pem"]?.string, let key = Self.key(pem)
            else { return nil }
            let signing = TokenSigningKey(key, notBefore: nbf, name: members["kid"]?.string)
            if state == "retired" { retired.append(signing) } else { published.append(signing) }
            if state == "active" { active = signing.identifier }
        }
    }

    private static func key(_ pem: String) -> RSAPrivateKey? {
        do throws(RSAError) {
            return try RSAPrivateKey(pem: pem)
        } catch {
            return nil
        }
    }
}
