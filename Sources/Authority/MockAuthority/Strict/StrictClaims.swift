import Basics
import JSON
import OpenSSL

/// Builds the claims of a strict provider: ID tokens of OpenID Connect Core 2, and access tokens of RFC 9068.
struct StrictClaims: TokenClaims {
    let configuration: Configuration
    let granted: GrantedRequest

    /// The value of `acr`, which stands for a sign-in with a password.
    static let context = "1"

    var lifetime: Int64 { configuration.behaviour.lifetimes.token }
    private var issuer: String { configuration.issuer(of: granted.policy) }

    private func beginning(audience: String) -> JSONObject {
        JSONObject([
            ("iss", .string(issuer)), ("sub", .string(granted.user.objectID)), ("aud", .string(audience)),
            ("exp", .integer(granted.now + lifetime)), ("iat", .integer(granted.now)),
        ])
    }

    func idToken(for accessToken: String?, code: String?) -> JSONObject {
        var claims = beginning(audience: granted.client.id)
        claims["auth_time"] = .integer(granted.signIn.time)
        claims["nonce"] = granted.signIn.nonce.map { .string($0) }
        claims["acr"] = .string(Self.context)
        claims["at_hash"] = accessToken.map(TokenSigner.hash)
        claims["c_hash"] = code.map(TokenSigner.hash)
        // OpenID Connect Core 5.4: without an access token, the ID token has the claims of the scope.
        let scopes = accessToken == nil && code == nil ? granted.scope.asked : []
        let person = StandardClaims(user: granted.user).values(of: scopes, and: granted.signIn.claims.idToken)
        for member in person.members where claims[member.name] == nil { claims[member.name] = member.value }
        return claims
    }

    /// The members `grant_id` and `userinfo_claims` are the mock's own, for its user information endpoint.
    func accessToken(audience: String) -> JSONObject {
        var claims = beginning(audience: audience)
        claims["jti"] = .string(GUID.random())
        claims["client_id"] = .string(granted.client.id)
        claims["scope"] = .string(granted.scope.text)
        claims["grant_id"] = granted.family.map { .string($0) }
        let asked = granted.signIn.claims.userInfo
        if !asked.isEmpty { claims["userinfo_claims"] = .array(asked.map { .string($0) }) }
        for member in StandardClaims(user: granted.user).others.members { claims[member.name] = member.value }
        return claims
    }

    /// There is always one, since the user information endpoint takes it; without an API it is for the issuer.
    func accessToken(signedBy signer: TokenSigner) throws(PrivateKeyError) -> String? {
        try signer.sign(accessToken(audience: granted.scope.audience ?? issuer))
    }
}
