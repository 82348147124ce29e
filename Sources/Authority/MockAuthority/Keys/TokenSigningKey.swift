import Basics
package import JSON
package import OpenSSL
import Tokens

/// A key that signs tokens, and its public half as the key set shows it.
package struct TokenSigningKey: Sendable {
    /// The name in `kid`: the one that ``KeyNaming`` gives, else the JWK thumbprint of RFC 7638.
    package let identifier: String
    /// When the key was made, in seconds since 1970.
    package let notBefore: Int64
    package let privateKey: PrivateKey
    private let modulus: String
    private let exponent: String

    /// A key made at this time; without a name, it has its thumbprint as the name.
    package init(_ privateKey: PrivateKey, notBefore: Int64, name: String? = nil) {
        self.privateKey = privateKey
        self.notBefore = notBefore
        modulus = Base64URL.encode(privateKey.modulus)
        exponent = Base64URL.encode(privateKey.exponent)
        let canonical = "{\"e\":\"\(exponent)\",\"kty\":\"RSA\",\"n\":\"\(modulus)\"}"
        identifier = name ?? Base64URL.encode(SHA256.digest(Array(canonical.utf8)))
    }

    /// The members of the service, in its order: no `alg`, no `x5t`, no `x5c`.
    package var publicKey: JSONValue {
        [
            "kid": .string(identifier), "nbf": .integer(notBefore), "use": "sig", "kty": "RSA",
            "e": .string(exponent), "n": .string(modulus),
        ]
    }
}
