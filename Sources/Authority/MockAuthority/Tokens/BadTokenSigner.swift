import Basics
import JSON
import OpenSSL
import Tokens

/// Makes bad tokens: good ones with exactly one defect.
struct BadTokenSigner: Sendable {
    let keys: KeyRing
    let signer: TokenSigner
    let configuration: Configuration
    let policy: Policy
    let now: Int64

    private static let hour: Int64 = 3600
    private static let hugeLength = 8704

    /// The bad token made from the claims of a good one.
    func sign(_ claims: JSONObject, as bad: BadToken) async throws(RSAError) -> String {
        switch bad {
        case .expired, .notYetValid, .noExp, .wrongAud, .audArray, .wrongIss, .issWithoutSlash, .wrongTenant,
            .wrongPolicy, .acrOnly, .noPolicy, .wrongScp, .noScp:
            return try signer.sign(spoiled(claims, bad))
        case .idToken: return try signer.sign(claims)
        case .unknownKid, .noKid, .typOther, .critHeader:
            return try signer.sign(header: spoiledHeader(bad), payload: JSONValue.object(claims).serialized())
        case .unpublishedKey: return try signer.with(await keys.unpublished()).sign(claims)
        case .retiredKey: return try signer.with(await keys.retired()).sign(claims)
        case .badSignature, .truncated: return spoiledSignature(try signer.sign(claims), bad)
        case .algNone: return input(claims, algorithm: "none") + "."
        case .hs256WithPublicKey: return authenticated(claims)
        case .rs512:
            return try signer.sign(
                header: header("RS512"), payload: JSONValue.object(claims).serialized(), digest: .sha512)
        case .huge: return try huge(claims)
        case .notJSON: return try signer.sign(header: signer.header, payload: Array("This is not JSON.".utf8))
        }
    }

    private func spoiled(_ good: JSONObject, _ bad: BadToken) -> JSONObject {
        var claims = good
        let issuer = configuration.issuer(of: policy)
        switch bad {
        case .expired: ClaimChanges(expiry: -Self.hour).apply(to: &claims, now: now, lifetime: Self.hour)
        case .notYetValid:
            claims["nbf"] = .integer(now + Self.hour)
            claims["exp"] = .integer(now + 2 * Self.hour)
        case .noExp: claims["exp"] = nil
        case .wrongAud: claims["aud"] = .string(Tenant.unknownID)
        case .audArray: claims["aud"] = .array([claims["aud"] ?? .null, .string(Tenant.unknownID)])
        case .wrongIss: claims["iss"] = .string("https://login.example.org/\(configuration.tenant.id)/v2.0/")
        case .issWithoutSlash: claims["iss"] = .string(String(issuer.dropLast()))
        case .wrongTenant:
            claims["iss"] = .string("\(configuration.issuerBase)/\(Tenant.unknownID)/v2.0/")
        case .wrongPolicy: claims["tfp"] = "b2c_1_not_configured"
        case .acrOnly:
            claims["tfp"] = nil
            claims["acr"] = .string(policy.name.lowercased())
        case .noPolicy:
            claims["tfp"] = nil
            claims["acr"] = nil
        case .wrongScp: claims["scp"] = "tasks.other"
        case .noScp: claims["scp"] = nil
        case .idToken, .unknownKid, .noKid, .unpublishedKey, .retiredKey, .badSignature, .truncated, .algNone,
            .hs256WithPublicKey, .rs512, .typOther, .critHeader, .huge, .notJSON:
            break
        }
        return claims
    }

    private func header(_ algorithm: String) -> JSONObject {
        var header = signer.header
        header["alg"] = .string(algorithm)
        return header
    }

    private func spoiledHeader(_ bad: BadToken) -> JSONObject {
        var header = signer.header
        if bad == .unknownKid { header["kid"] = "an-unknown-key" }
        if bad == .noKid { header["kid"] = nil }
        if bad == .typOther { header["typ"] = "secevent+jwt" }
        if bad == .critHeader {
            header["crit"] = ["mock"]
            header["mock"] = true
        }
        return header
    }

    private func spoiledSignature(_ token: String, _ bad: BadToken) -> String {
        guard bad == .badSignature, let dot = token.lastIndex(of: "."),
            var signature = Base64.decodeLenient(token[token.index(after: dot)...])
        else { return String(token.dropLast(6)) }
        signature[signature.count / 2] ^= 1
        return token[...dot] + Base64URL.encode(signature)
    }

    private func input(_ claims: JSONObject, algorithm: String) -> String {
        TokenSigner.input(header: header(algorithm), payload: JSONValue.object(claims).serialized())
    }

    /// The confusion of RFC 8725 section 2.1: a checker that takes the public key for a secret accepts it.
    private func authenticated(_ claims: JSONObject) -> String {
        let input = input(claims, algorithm: "HS256")
        let secret = signer.key.privateKey.publicPEM
        let code = HMACSHA256.authenticate(key: Array(secret.utf8), message: Array(input.utf8))
        return input + "." + Base64URL.encode(code)
    }

    private func huge(_ good: JSONObject) throws(RSAError) -> String {
        var claims = good
        claims["extension_Padding"] = ""
        let signatureLength = (signer.key.privateKey.modulus.count * 4 + 2) / 3
        let length = input(claims, algorithm: "RS256").utf8.count + 1 + signatureLength
        claims["extension_Padding"] = .string(String(repeating: "x", count: max(0, Self.hugeLength - length) * 3 / 4))
        return try signer.sign(claims)
    }
}
