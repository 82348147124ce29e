import Basics
import JSON

/// Why a published key may not be used: one case for each rule (V-36 to V-38).
package enum KeyRejection: Error, Equatable, Sendable, CaseIterable {
    case notAnObject, wrongKeyType, missingIdentifier, notForSignatures, notForVerifying, wrongAlgorithm
    case malformedModulus, malformedExponent, modulusSize, evenModulus, factorableModulus, weakExponent
    /// Another key of the set has the same `kid` and other numbers.
    case conflictingIdentifier
    /// The key was published for another issuer, or another cloud, than the metadata names (P-7, P-8).
    case otherIssuer, otherCloud

    /// The reason, for the log: the end of a sentence about the key.
    package var message: String {
        switch self {
        case .notAnObject: "it is not a JSON object"
        case .wrongKeyType: "its kty is not RSA"
        case .missingIdentifier: "it has no kid of 1 to 256 bytes"
        case .notForSignatures: "its use is not sig"
        case .notForVerifying: "its key_ops do not contain verify"
        case .wrongAlgorithm: "its alg is not RS256"
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
    /// Admits one entry of a set.
    ///
    /// Only the members that are read here matter; `nbf`, `x5c` and `x5t` do not (V-40).
    init(_ entry: JSONValue) throws(KeyRejection) {
        guard let object = entry.object else { throw .notAnObject }
        try Self.checkPurpose(of: object)
        guard let identifier = JOSEHeader.keyIdentifier(object["kid"]) else { throw .missingIdentifier }
        guard let modulus = Self.number(object["n"]) else { throw .malformedModulus }
        guard let exponent = Self.number(object["e"]) else { throw .malformedExponent }
        try Self.check(modulus: modulus)
        try Self.check(exponent: exponent)
        self.init(
            keyIdentifier: identifier, modulus: modulus, exponent: exponent,
            carriesPrivateMembers: ["d", "p", "q", "dp", "dq", "qi", "oth"].contains(where: object.contains),
            issuer: object["issuer"]?.string, cloud: object["cloud_instance_name"]?.string)
    }

    /// Checks that the entry is an RSA key, and is not reserved for another use (V-36, V-22).
    private static func checkPurpose(of object: JSONObject) throws(KeyRejection) {
        guard let type = object["kty"], says(type, "RSA") else { throw .wrongKeyType }
        if let use = object["use"], !says(use, "sig") { throw .notForSignatures }
        if let operations = object["key_ops"] {
            guard let list = operations.array, list.contains(where: { says($0, "verify") }) else {
                throw .notForVerifying
            }
        }
        if let algorithm = object["alg"], !says(algorithm, "RS256") { throw .wrongAlgorithm }
    }

    private static func says(_ value: JSONValue, _ text: String) -> Bool {
        value.string.map { $0.isSame(as: text) } ?? false
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
