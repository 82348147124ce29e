import Basics
import JSON
import OpenSSL

// The tokens of every service whose header or signature is wrong.
extension BadToken {
    static let ofSignatures = [
        BadToken(
            "unknown-kid", nil, "kid names no key, the signature is by the active one",
            header: ["kid": "an-unknown-key"]),
        BadToken("no-kid", nil, "without kid", header: ["kid": nil]),
        signed("unpublished-key", .signature, "signed by a key that was never published") {
            try $0.signer.with(await $0.authority.keys.unpublished()).sign($1)
        },
        signed("retired-key", .key, "signed by a key that is no longer published") {
            try $0.signer.with(await $0.authority.keys.retired()).sign($1)
        },
        signed("bad-signature", .signature, "one bit of the signature is wrong") {
            let input = TokenSigner.input(header: $0.signer.header, payload: $1.bytes)
            var signature = try $0.signer.key.privateKey.sign(Array(input.utf8))
            signature[signature.count / 2] ^= 1
            return input + "." + Base64URL.encode(signature)
        },
        signed("truncated", .signature, "the end of the signature is missing") {
            String(try $0.signer.sign($1).dropLast(6))
        },
        signed("alg-none", .algorithm, "alg is none, the signature empty") { $0.unsigned("none", $1) },
        signed("hs256-with-public-key", .algorithm, "alg is HS256, the secret is the public key in PEM") {
            $0.authenticated($1, secret: $0.signer.key.privateKey.publicPEM)
        },
        signed("rs512", nil, "alg is RS512, correctly signed") {
            try $0.signer.sign(header: $0.header("RS512"), payload: $1.bytes, as: .rs512)
        },
        BadToken("typ-other", .kind, "typ is secevent+jwt", header: ["typ": "secevent+jwt"]),
        BadToken(
            "crit-header", .criticalHeader, "crit demands an extension", header: ["crit": ["mock"], "mock": true]),
        BadToken("huge", nil, "longer than 16 KiB", is: .tooLong, claims: ["extension_Padding": .string(padding)]),
        signed("not-json", .validation, "the payload is not JSON, correctly signed") { token, _ in
            try token.sign(token.signer.header.bytes, Array("This is not JSON.".utf8))
        },
    ]

    /// A text with which every token is longer than 16,384 bytes.
    private static let padding = String(repeating: "x", count: 11_800)

    /// Creates a token whose claims are good, and whose header or signature is not.
    static func signed(_ name: String, _ rule: BadTokenRule?, _ words: String, _ sign: @escaping Sign) -> BadToken {
        BadToken(name, rule, words, sign: sign)
    }
}
