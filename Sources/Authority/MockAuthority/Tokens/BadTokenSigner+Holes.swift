import Basics
import JSON
import OpenSSL

// The tokens that show published holes of validators (docs/token-validation.md, "Known holes").
extension BadTokenSigner {
    /// A token whose signature is none, is made by another algorithm than the key's, or is an HMAC with a known secret.
    func signOtherwise(_ payload: [UInt8]) throws(PrivateKeyError) -> String {
        func unsigned(_ algorithm: String) -> String {
            TokenSigner.input(header: header(algorithm), payload: payload) + "."
        }
        var keyed = header("HS256")
        switch bad {
        case .algNoneMixedCase: return unsigned("nOnE")
        case .hs256EmptySecret: return authenticated(keyed, payload, secret: [])
        case .kidPath:
            keyed["kid"] = "../../../../../../../dev/null"
            return authenticated(keyed, payload, secret: [])
        case .kidSQL:
            keyed["kid"] = "' UNION SELECT 'secret"
            return authenticated(keyed, payload, secret: Array("secret".utf8))
        case .ps256: return try signer.sign(header: header("PS256"), payload: payload, as: .ps256)
        case .es256OwnKey:
            let key = try PrivateKey.generate(.es256)
            let input = TokenSigner.input(header: header("ES256"), payload: payload)
            return input + "." + Base64URL.encode(try key.sign(Array(input.utf8)))
        case .es256ZeroSignature: return unsigned("ES256") + Base64URL.encode([UInt8](repeating: 0, count: 64))
        default: return unsigned("RS256")
        }
    }

    /// A header under the `kid` of the active key that offers another key to whoever looks there.
    func offer(of key: TokenSigningKey) throws(PrivateKeyError) -> JSONObject {
        var header = signer.header
        let address = "https://login.example.org/keys"
        switch bad {
        case .jwkHeader: header["jwk"] = key.publicKey
        case .jkuHeader: header["jku"] = .string(address)
        case .x5uHeader: header["x5u"] = .string(address)
        case .x5cHeader:
            let certificate = try CertificateMaker(now: granted.now).tokenSigning(key.privateKey, name: "example.org")
            header["x5c"] = [.string(Base64.encode(certificate))]
        default: break
        }
        return header
    }

    /// A token that is not one header with one set of claims and one signature over both.
    func assemble(_ claims: JSONObject, _ payload: [UInt8]) throws(PrivateKeyError) -> String {
        let owner = Array("{\"\(claims["oid"] == nil ? "sub" : "oid")\":\"\(Tenant.unknownID)\",".utf8)
        switch bad {
        case .nested:
            var header = signer.header
            header["cty"] = "JWT"
            return try signer.sign(header: header, payload: Array(try signer.sign(claims).utf8))
        case .encrypted:
            let header: JSONObject = ["alg": "RSA-OAEP", "enc": "A256GCM", "zip": "DEF", "cty": "JWT"]
            let parts = [256, 12, 4096, 16].map { Base64URL.encode(SecureRandom.bytes($0)) }
            return ([Base64URL.encode(JSONValue.object(header).serialized())] + parts).joined(separator: ".")
        case .otherClaims:
            var other = claims
            other["oid"] = .string(Tenant.unknownID)
            let parts = try signer.sign(claims).split(separator: ".")
            return "\(parts[0]).\(Base64URL.encode(JSONValue.object(other).serialized())).\(parts[2])"
        case .duplicateClaim: return try sign(JSONValue.object(signer.header).serialized(), owner + payload.dropFirst())
        case .duplicateAlg:
            let header = JSONValue.object(signer.header).serialized()
            return try sign(Array("{\"alg\":\"none\",".utf8) + header.dropFirst(), payload)
        default: return String(repeating: ".", count: 8000)
        }
    }

    /// Signs two texts that are no objects which this program would write.
    private func sign(_ header: [UInt8], _ payload: [UInt8]) throws(PrivateKeyError) -> String {
        let input = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(try signer.key.privateKey.sign(Array(input.utf8)))
    }
}
