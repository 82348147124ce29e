internal import JSON

/// Puts claims together as user flows do, in the order of captured tokens.
struct ClaimsBuilder: Sendable {
    let configuration: Configuration
    let issue: Issue

    private var behaviour: Behaviour { configuration.behaviour }
    private var expiry: JSONValue { .integer(issue.now + behaviour.lifetimes.token) }
    private var notBefore: JSONValue { .integer(issue.now - behaviour.notBeforeSlack) }
    private var issuer: JSONValue { .string(configuration.issuer(of: issue.policy)) }
    private var user: User { issue.user }

    /// The claims of an ID token; hashes of the code and access token that go with it are appended by those who know.
    var idToken: JSONObject {
        var claims = JSONObject([
            ("exp", expiry), ("nbf", notBefore), ("ver", "1.0"), ("iss", issuer), ("sub", subject),
            ("aud", .string(issue.client.id)),
        ])
        claims["nonce"] = issue.sign.nonce.map { .string($0) }
        claims["iat"] = .integer(issue.now)
        claims["auth_time"] = .integer(issue.sign.time)
        claims["oid"] = .string(user.objectID)
        add(person, to: &claims)
        addPolicy(to: &claims)
        return claims
    }

    /// The claims of an access token for this audience.
    func accessToken(audience: String) -> JSONObject {
        var claims = JSONObject([
            ("iss", issuer), ("exp", expiry), ("nbf", notBefore), ("aud", .string(audience)),
            ("oid", .string(user.objectID)), ("sub", subject),
        ])
        add(person, to: &claims)
        addPolicy(to: &claims)
        claims["nonce"] = issue.sign.nonce.map { .string($0) }
        if !issue.scope.names.isEmpty { claims["scp"] = .string(issue.scope.names.joined(separator: " ")) }
        claims["azp"] = .string(issue.client.id)
        claims["ver"] = "1.0"
        claims["iat"] = .integer(issue.now)
        return claims
    }

    private var subject: JSONValue { .string(behaviour.era.subject(user.objectID)) }

    private func addPolicy(to claims: inout JSONObject) {
        let (name, value) = behaviour.era.policyClaim(issue.policy)
        claims[name] = .string(value)
    }

    /// The chosen application claims.
    private var person: JSONObject {
        var claims = JSONObject()
        claims["idp"] = identityProvider.map { .string($0) }
        claims["name"] = .string(user.name.display)
        if !user.name.given.isEmpty { claims["given_name"] = .string(user.name.given) }
        if !user.name.family.isEmpty { claims["family_name"] = .string(user.name.family) }
        if issue.sign.newUser { claims["newUser"] = true }
        if !user.email.isEmpty { claims["emails"] = [.string(user.email)] }
        add(user.claims, to: &claims)
        return claims
    }

    /// Social accounts name their provider; local ones only in the password grant.
    private var identityProvider: String? {
        user.standing.identityProvider ?? (issue.sign.local ? "LocalAccount" : nil)
    }

    private func add(_ more: JSONObject, to claims: inout JSONObject) {
        for member in more.members { claims[member.name] = member.value }
    }
}
