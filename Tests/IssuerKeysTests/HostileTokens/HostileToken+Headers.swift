import Basics
import JSON
import OpenSSL
import Support
import Tokens

// Faults of the header (V-20 to V-28); the signature is right for what is signed.
extension HostileToken {
    static var headers: [HostileToken] {
        algorithms + types + extensions + identifiers
    }

    /// V-21 and V-22.
    private static var algorithms: [HostileToken] {
        let names: [JSONValue] = [
            "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "RS384", "RS512", "PS256", "PS384", "PS512",
            "ES256", "ES384", "ES512", "ES256K", "EdDSA", "RSA-OAEP", "dir", "rs256", "Rs256", "RS256 ", " RS256",
            "RS256\n", "RS256\0", "RS2560", "RS25", "\u{FF32}S256", "R\u{17F}256", "SHA256withRSA",
            "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", "1.2.840.113549.1.1.11", ["RS256"], ["none", "RS256"],
            ["alg": "RS256"], 256, .real(0.5), .null, true, false,
        ]
        return names.map { header("alg", $0, .wrongAlgorithm) } + [
            header("alg", nil, .wrongAlgorithm), header("empty", [:], .wrongAlgorithm),
            HostileToken(
                name: "HS256, the secret is the public modulus", text: authenticated(SigningKey.shared.modulus),
                refusal: .wrongAlgorithm),
            HostileToken(name: "HS256, the secret is empty", text: authenticated([]), refusal: .wrongAlgorithm),
            HostileToken(
                name: "HS256, the secret is the kid", text: authenticated(Array(TestClaims.keyIdentifier.utf8)),
                refusal: .wrongAlgorithm),
            HostileToken(name: "RS512, rightly signed", text: signedWithSHA512("RS512"), refusal: .wrongAlgorithm),
            HostileToken(name: "RS256, signed as RS512", text: signedWithSHA512("RS256"), refusal: .badSignature),
        ]
    }

    private static func authenticated(_ secret: [UInt8]) -> String {
        let header = JSONValue.object(TestClaims.header.with("alg", "HS256")).serialized()
        let input = Base64URL.encode(header) + "." + Base64URL.encode(GoodParts.payload)
        return input + "." + Base64URL.encode(HMACSHA256.authenticate(key: secret, message: Array(input.utf8)))
    }

    private static func signedWithSHA512(_ algorithm: JSONValue) -> String {
        let header = JSONValue.object(TestClaims.header.with("alg", algorithm)).serialized()
        let input = Base64URL.encode(header) + "." + Base64URL.encode(GoodParts.payload)
        let signature = (try? SigningKey.shared.sign(Array(input.utf8), as: .rs512)) ?? []
        return input + "." + Base64URL.encode(signature)
    }

    /// V-24.
    private static var types: [HostileToken] {
        let values: [JSONValue] = [
            "", "JWE", "JOSE", "JOSE+JSON", "secevent+jwt", "dpop+jwt", "logout+jwt", "id_token+jwt", "SAML",
            "application/", "application/application/jwt", "text/jwt", " JWT", "JWT ", "JWT\0", "JWT;a=b", "jw\u{17F}t",
            .null, true, 1, ["JWT"], ["typ": "JWT"],
        ]
        return values.map { header("typ", $0, .wrongType) }
    }

    /// V-25 and V-26.
    private static var extensions: [HostileToken] {
        let critical: [JSONValue] = [[], ["exp"], ["b64"], ["crit"], [""], "exp", "", .null, 1, false, [:]]
        let unsupported: [(String, JSONValue)] = [
            ("b64", false), ("b64", true), ("b64", .null), ("b64", "false"), ("zip", "DEF"), ("zip", ""),
            ("zip", .null),
            ("enc", "A128GCM"), ("enc", .null), ("cty", "JWT"), ("cty", "jwt"), ("cty", "application/JWT"), ("cty", 1),
            ("cty", .null), ("cty", ["JWT"]),
        ]
        return critical.map { header("crit", $0, .criticalExtension) }
            + unsupported.map { header($0, $1, .unsupportedHeader) }
    }

    /// V-27 and V-28.
    private static var identifiers: [HostileToken] {
        let useless: [JSONValue?] = [
            nil, "", .null, 1, .real(1.5), true, ["key-1"], ["kid": "key-1"],
            .string(String(repeating: "k", count: 257)),
            .string(String(repeating: "k", count: 1200)), .string(String(repeating: "\u{1F511}", count: 65)),
        ]
        let unknown = [
            "KEY-1", "Key-1", "key-1 ", " key-1", "key-1\0", "\0key-1", "key-1\n", "key-1\r\n", "\"key-1\"", "key-",
            "key-10",
            "ey-1", "../key-1", "./key-1", "keys/../key-1", "/dev/null", "../../../../etc/passwd", "file:///dev/null",
            "' OR 1=1--", "key-1' UNION SELECT 'key-1", "key-1;--", "https://evil.example/keys#key-1", "%6bey-1",
            "k%00",
            "\u{FF4B}ey-1", "key\u{2010}1", "key-1\u{200B}", "\u{202E}1-yek", "key-\u{661}", "ke\u{443}-1", "*",
            "key-?", "0",
            "{{7*7}}", "$(id)", "`id`", "%s%n%x", "null", "undefined", "__proto__", "[object Object]",
            String(repeating: "k", count: 256),
        ]
        return useless.map { header("kid", $0, .missingKeyIdentifier) }
            + unknown.map { header("kid", .string($0), .unknownKey) }
    }
}

// Faults of who signed: the header offers a key, or names one that is not the policy's (V-23, V-35).
extension HostileToken {
    static var keys: [HostileToken] {
        offers.enumerated().map { number, offer in
            HostileToken(
                name: "signed by another key, offer \(number): \(offer.0)",
                text: makeToken(header: TestClaims.header.with(offer.0, offer.1), key: SigningKey.other),
                refusal: .badSignature)
        } + [
            HostileToken(name: "signed by another key", text: makeToken(key: SigningKey.other), refusal: .badSignature),
            HostileToken(
                name: "signed by the key of another policy",
                text: makeToken(header: TestClaims.header.with("kid", "key-2"), key: SigningKey.other),
                refusal: .wrongPolicy),
            HostileToken(
                name: "of the other policy, signed by the key of the first",
                text: makeToken(claims: TestClaims.good.with("tfp", "B2C_1_reset")), refusal: .wrongPolicy),
            HostileToken(
                name: "of the other policy, signed by the first, with the kid of the other",
                text: makeToken(
                    claims: TestClaims.good.with("tfp", "B2C_1_reset"), header: TestClaims.header.with("kid", "key-2")),
                refusal: .badSignature),
        ]
    }

    /// What points to a key of the attacker's own.
    static var offers: [(String, JSONValue)] {
        let certificate = JSONValue.string(String(repeating: "MIIC", count: 200))
        return [
            ("jwk", published(SigningKey.other)), ("jwk", published(SigningKey.other, kid: "key-2")),
            ("jwks", ["keys": [published(SigningKey.other)]]), ("jku", "https://evil.example/keys"),
            ("jku", "https://contoso.b2clogin.com@evil.example/keys"), ("x5u", "https://evil.example/certificate.pem"),
            ("x5c", [certificate]), ("x5t", "dGh1bWJwcmludA"), ("x5t#S256", "dGh1bWJwcmludA"), ("key", "key-2"),
            ("KID", "key-2"), ("keyid", "key-2"),
        ]
    }
}
