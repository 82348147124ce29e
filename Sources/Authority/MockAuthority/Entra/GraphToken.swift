import Basics
import JSON
import OpenSSL

extension EntraClaims {
    /// The access token: without a scope of an API it is for Microsoft Graph.
    func accessToken(signedBy signer: TokenSigner) throws(PrivateKeyError) -> String? {
        guard let audience = granted.scope.audience, audience != Resource.graph.audience else {
            return try signer.signGraphToken(graphToken)
        }
        return try signer.sign(accessToken(audience: audience))
    }

    /// The claims of a token for Microsoft Graph, which are those of version 1.
    var graphToken: JSONObject {
        var claims = versionOne
        claims["aud"] = .string(Resource.graph.audience)
        let scopes = granted.scope.asked.filter { ["openid", "profile", "email"].contains($0) } + granted.scope.names
        let isOnlyIdentity = granted.scope.names.isEmpty
        claims["scp"] = isOnlyIdentity ? "openid profile User.Read email" : .string(scopes.joined(separator: " "))
        return claims
    }

    /// The claims of a version 1 access token (docs/reproduced.md, "Bad tokens").
    var versionOne: JSONObject {
        let issued = granted.now - Self.datedBack
        let user = granted.user
        var claims = JSONObject([
            ("aud", .string("api://\(granted.scope.audience ?? "")")),
            ("iss", .string("https://sts.windows.net/\(configuration.tenant.id)/")), ("iat", .integer(issued)),
            ("nbf", .integer(issued)), ("exp", .integer(issued + lifetime + Self.datedBack)), ("acr", "1"),
            ("aio", .string(Self.random(32))), ("amr", ["pwd"]), ("appid", .string(granted.client.id)),
            ("appidacr", granted.client.secret == nil ? "0" : "1"),
        ])
        if !user.name.family.isEmpty { claims["family_name"] = .string(user.name.family) }
        if !user.name.given.isEmpty { claims["given_name"] = .string(user.name.given) }
        claims["ipaddr"] = "192.0.2.1"
        claims["name"] = .string(user.name.display)
        claims["oid"] = .string(user.objectID)
        if !granted.scope.names.isEmpty { claims["scp"] = .string(granted.scope.names.joined(separator: " ")) }
        claims["sub"] = .string(
            Self.subject(of: user.objectID, for: granted.scope.audience ?? "", in: configuration.tenant))
        claims["tid"] = .string(configuration.tenant.id)
        claims["unique_name"] = .string(user.email)
        claims["uti"] = .string(Self.random(16))
        claims["ver"] = "1.0"
        return claims
    }
}

extension TokenSigner {
    /// The header of tokens of version 1, which names the key twice; those for Graph have a nonce.
    func headerOfVersionOne(nonce: String? = nil) -> JSONObject {
        let kid = JSONValue.string(key.identifier)
        let nonce = nonce.map { [("nonce", JSONValue.string($0))] } ?? []
        return JSONObject([("typ", "JWT")] + nonce + [("alg", "RS256"), ("x5t", kid), ("kid", kid)])
    }

    /// A token that only Microsoft Graph can verify: what is signed has a hash of the `nonce` of the header.
    func signGraphToken(_ claims: JSONObject) throws(PrivateKeyError) -> String {
        let nonce = EntraClaims.random(32)
        let payload = claims.bytes
        let hashed = Base64URL.encode(SHA256.digest(Array(nonce.utf8)))
        let token = try sign(header: headerOfVersionOne(nonce: hashed), payload: payload)
        let signature = token.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        let given = Self.input(header: headerOfVersionOne(nonce: nonce), payload: payload) + "." + signature
        record(given)
        return given
    }
}
