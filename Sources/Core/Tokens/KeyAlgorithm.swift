import Basics
import JSON

/// The signature algorithms of published keys (RFC 7518 section 3.1, RFC 8037), for a message (P-9).
enum KeyAlgorithm {
    static func names(of entries: [JSONValue]) -> [String] {
        Array(entries.compactMap { $0.object.flatMap(name) }.withoutDuplicates.prefix(8))
    }

    /// Returns `alg` if it is a known name; without `alg`, the algorithm that suits the type of the key.
    private static func name(of key: JSONObject) -> String? {
        guard key["use"]?.string != "enc" else { return nil }
        if let algorithm = key["alg"]?.string { return known.first { $0 == algorithm } }
        switch (key["kty"]?.string, key["crv"]?.string) {
        case ("RSA", _): return "RS256"
        case ("EC", "P-256"): return "ES256"
        case ("EC", "P-384"): return "ES384"
        case ("EC", "P-521"): return "ES512"
        case ("OKP", "Ed25519"), ("OKP", "Ed448"): return "EdDSA"
        case ("oct", _): return "HS256"
        case (_, _): return nil
        }
    }

    private static let known = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K", "EdDSA", "HS256",
        "HS384", "HS512",
    ]
}
