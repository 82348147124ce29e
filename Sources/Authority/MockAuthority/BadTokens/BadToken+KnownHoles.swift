import Basics
import JSON
import OpenSSL

// The tokens that show published holes of validators, which docs/token-validation.md lists by their CVE numbers.
extension BadToken {
    static let ofKnownHoles =
        holesOfSignatures + holesOfWholes + [
            BadToken("iss-array", .issuer, "iss is an array of the right issuer and another one") { claims, _ in
                claims["iss"] = .array([claims["iss"] ?? .null, "https://login.example.org/"])
            },
            BadToken("iss-part", .issuer, "iss is a part of the right issuer") { claims, _ in
                claims["iss"] = .string(String((claims["iss"]?.string ?? "").prefix(8)))
            },
            BadToken("no-iss", .issuer, "without iss", claims: ["iss": nil]),
            BadToken("aud-empty", .audience, "aud is an empty array", claims: ["aud": []]),
            BadToken("no-aud", .audience, "without aud", claims: ["aud": nil]),
            BadToken("exp-text", .timeAsText, "exp is a text") { $0["exp"] = .string("\($1.now + 3600)") },
        ]

    private static let holesOfSignatures = [
        signed("alg-none-mixed-case", .algorithm, "alg is nOnE, the signature empty") { $0.unsigned("nOnE", $1) },
        signed("empty-signature", .signature, "alg is right, the signature empty") { $0.unsigned("RS256", $1) },
        signed("hs256-empty-secret", .algorithm, "alg is HS256, the secret is empty") {
            $0.authenticated($1, secret: "")
        },
        signed("kid-path", .algorithm, "alg is HS256, kid is the path of an empty file, the secret is empty") {
            $0.authenticated($1, kid: "../../../../../../../dev/null", secret: "")
        },
        signed("kid-sql", .algorithm, "alg is HS256, kid is SQL that yields the secret") {
            $0.authenticated($1, kid: "' UNION SELECT 'secret", secret: "secret")
        },
        ofStranger("jwk-header", "which is in the header (jwk)") { _, key in ["jwk": key.publicKey] },
        ofStranger("jku-header", "whose address is in the header (jku)") { _, _ in
            ["jku": "https://login.example.org/keys"]
        },
        ofStranger("x5u-header", "whose certificate's address is in the header (x5u)") { _, _ in
            ["x5u": "https://login.example.org/keys"]
        },
        ofStranger("x5c-header", "whose certificate is in the header (x5c)") { now, key in
            let certificate = try CertificateMaker(now: now).tokenSigning(key.privateKey, name: "example.org")
            return ["x5c": [.string(Base64.encode(certificate))]]
        },
        ofStranger("other-key-same-kid", "under the kid of the active one") { _, _ in [:] },
        signed("ps256", nil, "alg is PS256, correctly signed") {
            try $0.signer.sign(header: $0.header("PS256"), payload: $1.bytes, as: .ps256)
        },
        signed("es256-own-key", .signature, "alg is ES256, signed by a key of its own, under the kid of the active one")
        {
            let input = TokenSigner.input(header: $0.header("ES256"), payload: $1.bytes)
            return input + "." + Base64URL.encode(try PrivateKey.generate(.es256).sign(Array(input.utf8)))
        },
        signed("es256-zero-signature", .signature, "alg is ES256, both numbers of the signature are 0") {
            $0.unsigned("ES256", $1) + Base64URL.encode([UInt8](repeating: 0, count: 64))
        },
    ]

    /// A token that a key signs that was never published, under the `kid` of the active one.
    ///
    /// `offer` gives the members of the header in which a careless checker looks for the key, at a time in seconds since 1970.
    private static func ofStranger(
        _ name: String, _ words: String,
        offer: @escaping @Sendable (_ now: Int64, TokenSigningKey) throws -> JSONObject
    ) -> BadToken {
        signed(name, .signature, "signed by a key of its own, \(words)") {
            let key = try await $0.authority.keys.unpublished()
            var header = $0.signer.header
            for member in try offer($0.now, key).members { header[member.name] = member.value }
            return try $0.signer.with(key).sign(header: header, payload: $1.bytes)
        }
    }

    /// The tokens that are not one header with one set of claims and one signature over both.
    private static let holesOfWholes = [
        signed("nested", .validation, "the payload is a good token (cty is JWT), correctly signed") {
            var header = $0.signer.header
            header["cty"] = "JWT"
            return try $0.sign(header.bytes, Array(try $0.signer.sign($1).utf8))
        },
        signed("encrypted", .validation, "the five parts of an encrypted and compressed token") { _, _ in
            let header: JSONObject = ["alg": "RSA-OAEP", "enc": "A256GCM", "zip": "DEF", "cty": "JWT"]
            let parts = [256, 12, 4096, 16].map { Base64URL.encode(SecureRandom.bytes($0)) }
            return ([Base64URL.encode(header.bytes)] + parts).joined(separator: ".")
        },
        signed("many-dots", .validation, "8000 dots") { _, _ in String(repeating: ".", count: 8000) },
        signed("other-claims", .signature, "the claims of somebody else between header and signature of a good token") {
            var other = $1
            other["oid"] = .string(Tenant.unknownID)
            let parts = try $0.signer.sign($1).split(separator: ".")
            return "\(parts[0]).\(Base64URL.encode(other.bytes)).\(parts[2])"
        },
        signed("duplicate-claim", nil, "oid occurs twice, the second is right, correctly signed") {
            let owner = "{\"\($1["oid"] == nil ? "sub" : "oid")\":\"\(Tenant.unknownID)\","
            return try $0.sign($0.signer.header.bytes, Array(owner.utf8) + $1.bytes.dropFirst())
        },
        signed("duplicate-alg", nil, "alg occurs twice, the second is right, correctly signed") {
            try $0.sign(Array("{\"alg\":\"none\",".utf8) + $0.signer.header.bytes.dropFirst(), $1.bytes)
        },
    ]
}
