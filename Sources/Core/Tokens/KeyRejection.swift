import Basics
import JSON

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
        case .wrongAlgorithm: "its alg is not for a key of its kty and crv, or not one that the server verifies"
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
