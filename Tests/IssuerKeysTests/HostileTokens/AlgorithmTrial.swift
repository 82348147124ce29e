import Basics
import JSON
import OpenSSL
import Support
import Tokens

/// The hostile and the good tokens, signed anew with the keys of another algorithm, and what only this algorithm can
/// get wrong.
struct AlgorithmTrial {
    let algorithm: SignatureAlgorithm
    let key: PrivateKey
    /// The key of the other policy.
    let otherKey: PrivateKey

    init(_ algorithm: SignatureAlgorithm) throws {
        self.algorithm = algorithm
        key = try PrivateKey.generate(algorithm)
        otherKey = try PrivateKey.generate(algorithm)
    }

    private var header: JSONObject { TestClaims.header.with("alg", .string(algorithm.rawValue)) }

    func hostile(_ tokens: [HostileToken]) throws -> [HostileToken] {
        let resigned = try tokens.compactMap { token -> HostileToken? in
            // The algorithm that is foreign to the key of RS256 is this one's own.
            guard token.name != "header, alg is \"\(algorithm.rawValue)\"" else { return nil }
            return try signedAnew(token.text).map { HostileToken(name: token.name, text: $0, refusal: token.refusal) }
        }
        return resigned + signatures() + (try confusions())
    }

    func good(_ tokens: [GoodToken]) throws -> [GoodToken] {
        try tokens.compactMap { token in
            // Where the header spells the name of the algorithm with escapes, the name would stay RS256.
            guard token.name != "with escapes" else { return nil }
            return try signedAnew(token.text).map { GoodToken(name: token.name, text: $0) }
        }
    }

    /// Returns the token with the name of this algorithm, signed by the key that stands for the one that signed it; nil
    /// if none did.
    private func signedAnew(_ text: String) throws -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(String(parts[0])),
            let payload = Base64URL.decode(String(parts[1])), let signature = Base64URL.decode(String(parts[2]))
        else { return nil }
        let input = Array("\(parts[0]).\(parts[1])".utf8)
        let signers = try [(SigningKey.shared, key), (SigningKey.other, otherKey)].filter { original, _ in
            try original.publicKey().verifies(signature: signature, of: input)
        }
        guard let signer = signers.first?.1 else { return nil }
        let named = header.replacing(Array("\"RS256\"".utf8), with: Array("\"\(algorithm.rawValue)\"".utf8))
        return makeToken(payload: payload, header: named, key: signer)
    }

    /// Signatures that are almost right, and those that only ECDSA could take for right.
    private func signatures() -> [HostileToken] {
        let parts = makeToken(header: header, key: key).split(separator: ".")
        let (input, good) = ("\(parts[0]).\(parts[1])", Base64URL.decode(String(parts[2])) ?? [])
        let half = good.count / 2
        let (r, s) = (Array(good[..<half]), Array(good[half...]))
        let zeros = [UInt8](repeating: 0, count: half)
        let one = Array(zeros.dropLast()) + [1]
        // CVE-2022-21449: both numbers of ECDSA are 0, as in the zeros among the others.
        let ofECDSA = [
            ("r is 0", zeros + s), ("s is 0", r + zeros), ("both are 1", one + one), ("the halves swapped", s + r),
            ("in DER", der(r, s)),
        ]
        return HostileToken.almost(good, of: input) + ofECDSA.map { HostileToken.signed(input, $0, $1) }
    }

    /// The form of ECDSA signatures outside of JOSE, which no JWS has.
    private func der(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        func number(_ bytes: [UInt8]) -> [UInt8] {
            let head: [UInt8] = [0x02, UInt8(truncatingIfNeeded: bytes.count + 1), 0]
            return head + bytes
        }
        let numbers = number(r) + number(s)
        let head: [UInt8] = [0x30, UInt8(truncatingIfNeeded: numbers.count)]
        return head + numbers
    }

    /// Tokens whose algorithm is not that of the key that they name (V-21).
    private func confusions() throws -> [HostileToken] {
        let others = try SignatureAlgorithm.allCases.filter { $0 != algorithm }.map { other in
            let signer = other.keyKind == algorithm.keyKind ? key : try PrivateKey.generate(other)
            return HostileToken(
                name: "signed with \(other.rawValue)",
                text: token(named: other.rawValue) { try signer.sign($0, as: other) },
                refusal: .wrongAlgorithm)
        }
        let foreign = try SignatureAlgorithm.allCases.filter { $0 != algorithm }.map { other in
            let signer = other.keyKind == algorithm.keyKind ? key : try PrivateKey.generate(other)
            return HostileToken(
                name: "signed with \(other.rawValue), under the name of the right algorithm",
                text: token(named: algorithm.rawValue) { try signer.sign($0, as: other) }, refusal: .badSignature)
        }
        // RFC 8725 section 2.1: the public key as a secret, in the forms in which libraries hold it.
        let number: [UInt8] =
            switch key.numbers {
            case .rsa(let modulus, _): modulus
            case .ec(let x, let y): [4] + x + y
            case .ed25519(let point): point
            }
        let secrets = [("in PEM", Array(key.publicPEM.utf8)), ("as a number", number)].map { form, secret in
            HostileToken(
                name: "HS256, the secret is the public key \(form)",
                text: token(named: "HS256") { HMACSHA256.authenticate(key: secret, message: $0) },
                refusal: .wrongAlgorithm)
        }
        let unsigned = HostileToken(
            name: "none, with the signature left", text: token(named: "none") { try key.sign($0) },
            refusal: .wrongAlgorithm)
        return others + foreign + secrets + [unsigned]
    }

    private func token(named name: String, _ sign: ([UInt8]) throws -> [UInt8]) -> String {
        let header = JSONValue.object(TestClaims.header.with("alg", .string(name))).serialized()
        let input = Base64URL.encode(header) + "." + Base64URL.encode(GoodParts.payload)
        return input + "." + Base64URL.encode((try? sign(Array(input.utf8))) ?? [])
    }
}
