import JSON
import OpenSSL

/// Builds the claims of the tokens of a granted request, in the order of one of the services.
protocol TokenClaims: Sendable {
    /// How long the access token lives from now, in seconds.
    var lifetime: Int64 { get }

    /// The claims of an access token for this audience.
    func accessToken(audience: String) -> JSONObject

    /// The access token that the granted scope asks for; `nil` if it asks for none.
    func accessToken(signedBy signer: TokenSigner) throws(PrivateKeyError) -> String?

    /// The claims of an ID token, with the hashes of the access token and the code of the same response.
    func idToken(for accessToken: String?, code: String?) -> JSONObject
}

extension TokenClaims {
    /// The claims of an access token for this audience; of an ID token if there is none.
    func good(for audience: String?) -> JSONObject {
        audience.map(accessToken(audience:)) ?? idToken(for: nil, code: nil)
    }
}

/// The claims of B2C (docs/reproduced.md, "Claims").
struct ClaimsBuilder: TokenClaims {
    let configuration: Configuration
    let granted: GrantedRequest

    var lifetime: Int64 { behaviour.lifetimes.token }
    private var behaviour: Behaviour { configuration.behaviour }
    private var expiry: JSONValue { .integer(granted.now + behaviour.lifetimes.token) }
    private var notBefore: JSONValue { .integer(granted.now) }
    private var issuer: JSONValue { .string(configuration.issuer(of: granted.policy)) }
    private var user: User { granted.user }

    func idToken(for accessToken: String?, code: String?) -> JSONObject {
        var claims = JSONObject([
            ("exp", expiry), ("nbf", notBefore), ("ver", "1.0"), ("iss", issuer), ("sub", subject),
            ("aud", .string(granted.client.id)),
        ])
        claims["nonce"] = granted.signIn.nonce.map { .string($0) }
        claims["iat"] = .integer(granted.now)
        claims["auth_time"] = .integer(granted.signIn.time)
        claims["oid"] = .string(user.objectID)
        add(person, to: &claims)
        addPolicy(to: &claims)
        claims["at_hash"] = accessToken.map(TokenSigner.hash)
        claims["c_hash"] = code.map(TokenSigner.hash)
        return claims
    }

    func accessToken(audience: String) -> JSONObject {
        var claims = JSONObject([
            ("iss", issuer), ("exp", expiry), ("nbf", notBefore), ("aud", .string(audience)),
            ("oid", .string(user.objectID)), ("sub", subject),
        ])
        add(person, to: &claims)
        addPolicy(to: &claims)
        claims["nonce"] = granted.signIn.nonce.map { .string($0) }
        if !granted.scope.names.isEmpty { claims["scp"] = .string(granted.scope.names.joined(separator: " ")) }
        claims["azp"] = .string(granted.client.id)
        claims["ver"] = "1.0"
        claims["iat"] = .integer(granted.now)
        return claims
    }

    func accessToken(signedBy signer: TokenSigner) throws(PrivateKeyError) -> String? {
        guard let audience = granted.scope.audience else { return nil }
        return try signer.sign(accessToken(audience: audience))
    }

    private var subject: JSONValue { .string(behaviour.era.subject(user.objectID)) }

    private func addPolicy(to claims: inout JSONObject) {
        let (name, value) = behaviour.era.policyClaim(granted.policy)
        claims[name] = .string(value)
    }

    private var person: JSONObject {
        var claims = JSONObject()
        claims["idp"] = identityProvider.map { .string($0) }
        claims["name"] = .string(user.name.display)
        if !user.name.given.isEmpty { claims["given_name"] = .string(user.name.given) }
        if !user.name.family.isEmpty { claims["family_name"] = .string(user.name.family) }
        if granted.signIn.newUser { claims["newUser"] = true }
        if !user.email.isEmpty { claims["emails"] = [.string(user.email)] }
        add(user.claims, to: &claims)
        return claims
    }

    /// Social accounts name their provider; local ones only in the password grant.
    private var identityProvider: String? {
        user.status.identityProvider ?? (granted.signIn.local ? "LocalAccount" : nil)
    }

    private func add(_ more: JSONObject, to claims: inout JSONObject) {
        for member in more.members { claims[member.name] = member.value }
    }
}
