import Basics
import JSON

/// The signature algorithms of published keys (RFC 7518 section 3.1, RFC 8037), for a message (P-9).
enum KeyAlgorithm {
    static func names(of entries: [JSONValue]) -> [String] {
        Array(entries.compactMap { $0.object.flatMap(name) }.withoutDuplicates.prefix(8))
    }

    /// Returns `alg` if it is a known name that suits the type of the key; without `alg`, the algorithm that does.
    ///
    /// Of a key that signs nothing, or whose `alg` is for another type, the algorithm says nothing.
    private static func name(of key: JSONObject) -> String? {
        guard key["use"]?.string ?? "sig" == "sig" else { return nil }
        if let operations = key["key_ops"], operations.array?.contains("verify") != true { return nil }
        let usual: String? =
            switch (key["kty"]?.string, key["crv"]?.string) {
            case ("RSA", _): "RS256"
            case ("EC", "P-256"): "ES256"
            case ("EC", "P-384"): "ES384"
            case ("EC", "P-521"): "ES512"
            case ("EC", "secp256k1"): "ES256K"
            case ("OKP", "Ed25519"): "EdDSA"
            case ("OKP", "Ed448"): "EdDSA with Ed448"
            case ("oct", _): "HS256"
            case (_, _): nil
            }
        guard let usual, let given = key["alg"]?.string else { return usual }
        // RSA has RS and PS, and secrets have HS, of three sizes each.
        let suits =
            switch usual {
            case "RS256": given.hasPrefix("RS") || given.hasPrefix("PS")
            case "HS256": given.hasPrefix("HS")
            case "EdDSA with Ed448": given == "EdDSA"
            case _: given == usual
            }
        return suits && known.contains(given) ? (given == "EdDSA" ? usual : given) : nil
    }

    private static let known = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K", "EdDSA", "HS256",
        "HS384", "HS512",
    ]
}
