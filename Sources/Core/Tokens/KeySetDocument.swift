package import Basics
package import JSON

/// A set of keys as a provider publishes it (RFC 7517 section 5), divided into usable keys and the others.
///
/// The document is checked without a cryptographic library, which checks the numbers later (V-37).
package struct KeySetDocument: Sendable, Equatable {
    /// The longest document that is read, in bytes.
    package static let longest = 256 * 1024
    /// The most keys of a set that is accepted.
    package static let mostKeys = 64

    /// A key that may be used.
    package struct Key: Sendable, Equatable {
        /// `kid`, to be compared byte by byte.
        package let keyIdentifier: String
        /// The only algorithm whose signatures the key verifies (V-36).
        package let algorithm: SignatureAlgorithm
        /// The numbers, of the kind and lengths that the algorithm takes.
        package let numbers: PublicKeyNumbers
        /// Whether the provider also published private members, which is reported; they are not used (V-37).
        package let carriesPrivateMembers: Bool
        /// `issuer`, which Microsoft's keys have: the key signs for no other issuer (P-7).
        package let issuer: String?
        /// `cloud_instance_name`, which Microsoft's keys have (P-8).
        package let cloud: String?

        /// Returns whether tokens could not tell both apart: they have the same `kid` and the same algorithm.
        func isNamed(as other: Key) -> Bool {
            keyIdentifier.isSame(as: other.keyIdentifier) && algorithm == other.algorithm
        }

        /// Returns whether both have the same numbers (byte by byte), `kid` and algorithm (V-27).
        package func isSame(as other: Key) -> Bool { isNamed(as: other) && numbers == other.numbers }
    }

    /// A key that may not be used.
    package struct RejectedKey: Sendable, Equatable {
        /// `kid`, if it has one.
        package let keyIdentifier: String?
        package let reason: KeyRejection
        /// `alg`, `kty` and `crv` of the key, as far as it has them, for a message.
        let kind: String

        /// The reason and the kind of the key, for the log: the end of a sentence about the key.
        package var message: String { kind.isEmpty ? reason.message : "\(reason.message) (\(kind))" }
    }

    /// The keys that may be used, in their order: one for each `kid` and algorithm.
    package let keys: [Key]
    /// The keys that may not be used, to be reported once for each set (V-38).
    package let rejected: [RejectedKey]
    /// The signature algorithms of all keys, as far as they are known, each once (P-9).
    package let algorithms: [String]

    /// Reads a whole document; a bad key does not affect the others (V-38).
    ///
    /// A key without `alg` is for the first of the allowed algorithms that suits its kind.
    ///
    /// - Throws: ``KeySetError`` if it is not a set of keys at all. A set without usable keys is not an error here.
    package init(
        parsing bytes: [UInt8], allowing allowed: [SignatureAlgorithm] = SignatureAlgorithm.allCases
    ) throws(KeySetError) {
        let entries = try Self.entries(of: bytes)
        var (good, keys, rejected): ([Key], [Key], [RejectedKey]) = ([], [], [])
        for entry in entries {
            do throws(KeyRejection) {
                good.append(try Key(entry, allowing: allowed))
            } catch {
                let kind = ["alg", "kty", "crv"].compactMap { name in
                    entry.object?[name]?.string.map { "\(name) \($0.printable(32))" }
                }
                rejected.append(
                    RejectedKey(
                        keyIdentifier: entry.object?["kid"]?.string, reason: error, kind: kind.joined(separator: ", ")))
            }
        }
        for key in good {
            // Keys that tokens could not tell apart are not trusted, none of them.
            if good.contains(where: { $0.isNamed(as: key) && $0.numbers != key.numbers }) {
                rejected.append(RejectedKey(keyIdentifier: key.keyIdentifier, reason: .conflictingIdentifier, kind: ""))
            } else if !keys.contains(where: { $0.isSame(as: key) }) {
                keys.append(key)
            }
        }
        (self.keys, self.rejected) = (keys, rejected)
        algorithms = KeyAlgorithm.names(of: entries)
    }

    private static func entries(of bytes: [UInt8]) throws(KeySetError) -> [JSONValue] {
        let object = try rethrowing(as: { _ in KeySetError.notJSON }) { () throws(JSONError) in
            try StrictJSON.object(bytes, longest: longest)
        }
        guard let entries = object["keys"]?.array else { throw .noKeyList }
        guard entries.count <= mostKeys else { throw .tooManyKeys(entries.count) }
        return entries
    }
}

/// The reason why a document is not a set of keys.
package enum KeySetError: Error, Equatable, Sendable {
    /// The document is not one JSON object within the limits (V-20).
    case notJSON
    /// The document has no list under `keys`.
    case noKeyList
    /// The document has more keys than ``KeySetDocument/mostKeys``.
    case tooManyKeys(Int)
}

/// Why a published key may not be used: one case for each rule (V-36 to V-38).
package enum KeyRejection: Error, Equatable, Sendable, CaseIterable {
    case notAnObject, wrongKeyType, missingIdentifier, notForSignatures, notForVerifying, wrongAlgorithm
    /// The settings allow no algorithm for which the key may be used (`TASKS_ALGORITHMS`).
    case algorithmNotAllowed
    case malformedPoint, malformedModulus, malformedExponent, modulusSize, evenModulus, factorableModulus, weakExponent
    /// Another key of the set has the same `kid` and other numbers.
    case conflictingIdentifier
    /// The key was published for another issuer, or another cloud, than the metadata names (P-7, P-8).
    case otherIssuer, otherCloud

    /// The reason, for the log: the end of a sentence about the key.
    package var message: String {
        switch self {
        case .notAnObject: "it is not a JSON object"
        case .wrongKeyType: "its kty and crv are not RSA, EC with P-256 or P-384, or OKP with Ed25519"
        case .missingIdentifier: "it has no kid of 1 to 256 bytes"
        case .notForSignatures: "its use is not sig"
        case .notForVerifying: "its key_ops do not contain verify"
        case .wrongAlgorithm: "its alg is none that the server verifies with its kty and crv"
        case .algorithmNotAllowed: "the settings do not allow its algorithm"
        case .malformedPoint: "its x or y is not canonical base64url of the length that its curve has"
        case .malformedModulus: "its n is not canonical base64url of a number without leading zeros"
        case .malformedExponent: "its e is not canonical base64url of a number without leading zeros"
        case .modulusSize: "its modulus does not have 2048 to 8192 bits"
        case .evenModulus: "its modulus is even"
        case .factorableModulus: "its modulus is of a generator whose keys can be factored (ROCA)"
        case .weakExponent: "its exponent is even, below 3, or not below 2^32"
        case .conflictingIdentifier: "another key has the same kid and other numbers"
        case .otherIssuer: "its issuer is another than that of the metadata"
        case .otherCloud: "its cloud_instance_name is another than that of the metadata"
        }
    }
}

extension KeySetDocument.Key {
    /// Admits one entry of a set by the members that are read here; `nbf`, `x5c` and `x5t` do not matter (V-40).
    init(_ entry: JSONValue, allowing allowed: [SignatureAlgorithm]) throws(KeyRejection) {
        guard let object = entry.object else { throw .notAnObject }
        guard let kind = Self.kind(of: object) else { throw .wrongKeyType }
        try Self.checkPurpose(of: object)
        let algorithm = try Self.algorithm(of: object, kind, allowed)
        guard let identifier = JOSEHeader.keyIdentifier(object["kid"]) else { throw .missingIdentifier }
        self.init(
            keyIdentifier: identifier, algorithm: algorithm, numbers: try Self.numbers(of: object, kind),
            carriesPrivateMembers: ["d", "p", "q", "dp", "dq", "qi", "oth"].contains(where: object.contains),
            issuer: object["issuer"]?.string, cloud: object["cloud_instance_name"]?.string)
    }

    /// Returns the kind of the key; nil for a secret (`oct`) and for curves that the server does not know (V-22).
    private static func kind(of object: JSONObject) -> SignatureAlgorithm.KeyKind? {
        guard let type = object["kty"] else { return nil }
        if says(type, "RSA") { return .rsa }
        guard let curve = object["crv"] else { return nil }
        let kinds: [SignatureAlgorithm.KeyKind] =
            says(type, "EC") ? [.p256, .p384] : says(type, "OKP") ? [.ed25519] : []
        return kinds.first { $0.curve.map { says(curve, $0.name) } ?? false }
    }

    /// Returns the one algorithm for which the key is used: `alg`, or the first that is allowed for its kind (V-36).
    private static func algorithm(
        of object: JSONObject, _ kind: SignatureAlgorithm.KeyKind, _ allowed: [SignatureAlgorithm]
    ) throws(KeyRejection) -> SignatureAlgorithm {
        guard let name = object["alg"] else {
            guard let first = allowed.first(where: { $0.keyKind == kind }) else { throw .algorithmNotAllowed }
            return first
        }
        guard let algorithm = JOSEHeader.algorithm(name), algorithm.keyKind == kind else { throw .wrongAlgorithm }
        guard allowed.contains(algorithm) else { throw .algorithmNotAllowed }
        return algorithm
    }

    /// Checks that the entry is not reserved for another use (V-36).
    private static func checkPurpose(of object: JSONObject) throws(KeyRejection) {
        if let use = object["use"], !says(use, "sig") { throw .notForSignatures }
        if let operations = object["key_ops"] {
            guard let list = operations.array, list.contains(where: { says($0, "verify") }) else {
                throw .notForVerifying
            }
        }
    }

    private static func says(_ value: JSONValue, _ text: String) -> Bool {
        value.string.map { $0.isSame(as: text) } ?? false
    }

    private static func numbers(
        of object: JSONObject, _ kind: SignatureAlgorithm.KeyKind
    ) throws(KeyRejection) -> PublicKeyNumbers {
        switch kind {
        case .rsa:
            guard let modulus = number(object["n"]) else { throw .malformedModulus }
            guard let exponent = number(object["e"]) else { throw .malformedExponent }
            try check(modulus: modulus)
            try check(exponent: exponent)
            return .rsa(modulus: modulus, exponent: exponent)
        case .p256, .p384: return .ec(x: try coordinate(object["x"], kind), y: try coordinate(object["y"], kind))
        case .ed25519: return .ed25519(try coordinate(object["x"], kind))
        }
    }

    /// Decodes a coordinate, which has the full length of its curve (RFC 7518 section 6.2.1.2, RFC 8037 section 2).
    private static func coordinate(
        _ value: JSONValue?, _ kind: SignatureAlgorithm.KeyKind
    ) throws(KeyRejection) -> [UInt8] {
        guard let bytes = value?.string.flatMap({ Base64URL.decode($0) }), bytes.count == kind.curve?.octets else {
            throw .malformedPoint
        }
        return bytes
    }

    /// Decodes a Base64urlUInt (RFC 7518 section 2), which has the fewest octets possible.
    private static func number(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string, let bytes = Base64URL.decode(text), let first = bytes.first, first != 0 else {
            return nil
        }
        return bytes
    }

    private static func check(modulus: [UInt8]) throws(KeyRejection) {
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 8)
        guard (2048...8192).contains(bits) else { throw .modulusSize }
        guard modulus.last.map({ $0 & 1 == 1 }) ?? false else { throw .evenModulus }
        guard !WeakModulus.isFactorable(modulus) else { throw .factorableModulus }
    }

    private static func check(exponent: [UInt8]) throws(KeyRejection) {
        guard exponent.count <= 4 else { throw .weakExponent }
        let value = exponent.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard value >= 3, value & 1 == 1 else { throw .weakExponent }
    }
}

/// Recognizes moduli of the broken key generator known as ROCA (CVE-2017-15361), which can be factored.
///
/// Such moduli are powers of 65537 modulo many small primes, as is one in 2^30 of random moduli.
enum WeakModulus {
    /// Returns whether the modulus, big-endian, has that fingerprint.
    static func isFactorable(_ modulus: [UInt8]) -> Bool {
        smallPrimes.allSatisfy { prime in
            let remainder = modulus.reduce(0) { ($0 << 8 | Int($1)) % prime }
            return powers(modulo: prime).contains(remainder)
        }
    }

    private static let smallPrimes = (3...167).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }

    private static func powers(modulo prime: Int) -> Set<Int> {
        var powers: Set<Int> = []
        var power = 1
        while powers.insert(power).inserted {
            power = power * 65537 % prime
        }
        return powers
    }
}

/// The signature algorithms of published keys (RFC 7518 section 3.1, RFC 8037), for a message (P-9).
enum KeyAlgorithm {
    static func names(of entries: [JSONValue]) -> [String] {
        Array(entries.compactMap { $0.object.flatMap(name) }.withoutDuplicates.prefix(8))
    }

    /// Returns `alg` if it is a known name that suits the type of the key, or else the usual name of the type.
    ///
    /// The result is nil for a key that signs nothing, or whose `alg` is for another type.
    private static func name(of key: JSONObject) -> String? {
        guard key["use"]?.string ?? "sig" == "sig" else { return nil }
        if let operations = key["key_ops"], operations.array?.contains("verify") != true { return nil }
        let (type, curve) = (key["kty"]?.string, key["crv"]?.string)
        guard let kind = kinds.first(where: { $0.type == type && ($0.curve == nil || $0.curve == curve) }) else {
            return nil
        }
        let name = key["alg"]?.string ?? kind.names[0]
        guard kind.names.contains(name) else { return nil }
        return kind.curve == "Ed448" ? "\(name) with Ed448" : name
    }

    /// The names for each kind of key, the usual one first.
    private static let kinds: [(type: String, curve: String?, names: [String])] = [
        ("RSA", nil, ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]),
        ("oct", nil, ["HS256", "HS384", "HS512"]), ("EC", "P-256", ["ES256"]), ("EC", "P-384", ["ES384"]),
        ("EC", "P-521", ["ES512"]), ("EC", "secp256k1", ["ES256K"]), ("OKP", "Ed25519", ["EdDSA"]),
        ("OKP", "Ed448", ["EdDSA"]),
    ]
}

extension PublicKeyNumbers {
    /// Returns the key's members in a JWK: type, curve and numbers (RFC 7518 section 6, RFC 8037 section 2).
    package func members(for algorithm: SignatureAlgorithm) -> JSONObject {
        switch self {
        case .rsa(let modulus, let exponent):
            ["kty": "RSA", "n": .string(Base64URL.encode(modulus)), "e": .string(Base64URL.encode(exponent))]
        case .ec(let x, let y):
            [
                "kty": "EC", "crv": .string(algorithm.keyKind.curve?.name ?? ""),
                "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
            ]
        case .ed25519(let point): ["kty": "OKP", "crv": "Ed25519", "x": .string(Base64URL.encode(point))]
        }
    }
}
