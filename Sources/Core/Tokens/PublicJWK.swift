package import Basics
package import JSON

extension PublicKeyNumbers {
    /// Returns the members of the key in a JWK: its type, its curve and its numbers (RFC 7518 section 6, RFC 8037 section 2).
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
