import Basics
import JSON
import OpenSSL

/// Builds the claims of a strict provider: ID tokens of OpenID Connect Core 2, and access tokens of RFC 9068.
struct StrictClaims: TokenClaims {
    let configuration: Configuration
    let granted: GrantedRequest

    /// The value of `acr`, which stands for a sign-in with a password.
    static let context = "1"

    var lifetime: Int64 { configuration.behaviour.tokenLifetime }
    private var issuer: String { configuration.issuer(of: granted.policy) }

    private func beginning(audience: String) -> JSONObject {
        [
            "iss": .string(issuer), "sub": .string(granted.user.objectID), "aud": .string(audience),
            "exp": .integer(granted.now + lifetime), "iat": .integer(granted.now),
        ]
    }

    func idToken(for accessToken: String?, code: String?) -> JSONObject {
        var claims = beginning(audience: granted.client.id)
        claims.replace(by: [
            "auth_time": .integer(granted.signIn.time), "nonce": granted.signIn.nonce.map { .string($0) },
            "acr": .string(Self.context), "at_hash": accessToken.map(TokenSigner.hash),
            "c_hash": code.map(TokenSigner.hash),
        ])
        // OpenID Connect Core 5.4: without an access token, the ID token has the claims of the scope.
        let scopes = accessToken == nil && code == nil ? granted.scope.asked : []
        let person = StandardClaims(user: granted.user).values(of: scopes, and: granted.signIn.claims.idToken)
        for member in person.members where claims[member.name] == nil { claims[member.name] = member.value }
        return claims
    }

    /// The members `grant_id` and `userinfo_claims` are the mock's own, for its user information endpoint.
    func accessToken(audience: String) -> JSONObject {
        let asked = granted.signIn.claims.userInfo.map { JSONValue.string($0) }
        var claims = beginning(audience: audience)
        claims.replace(by: [
            "jti": .string(GUID.random()), "client_id": .string(granted.client.id),
            "scope": .string(granted.scope.text), "grant_id": granted.family.map { .string($0) },
            "userinfo_claims": asked.isEmpty ? nil : .array(asked),
        ])
        claims.replace(by: StandardClaims(user: granted.user).others)
        return claims
    }

    /// There is always one, since the user information endpoint takes it; without an API it is for the issuer.
    func accessToken(signedBy signer: TokenSigner) throws(PrivateKeyError) -> String? {
        var typed = signer
        typed.type = "at+jwt"
        return try typed.sign(accessToken(audience: granted.scope.audience ?? issuer))
    }
}

/// The claims about a person that OpenID Connect defines (Core 5.1), invented where the account does not have them.
struct StandardClaims: Sendable {
    let user: User

    /// Static/standard-claims.json: the claims that each scope opens (OpenID Connect Core 5.4), with invented values.
    private static let table = (try? JSONValue(parsing: PackageResources.standard_claims_json)) ?? .null

    static let ofScopes = (table.object?.members ?? []).map { scope in
        (scope: scope.name, names: (scope.value.object?.members ?? []).map(\.name))
    }

    /// The values of the claims that these scopes open, and of the claims with these names.
    func values(of scopes: [String], and names: [String]) -> JSONObject {
        var values = JSONObject()
        for name in Self.ofScopes.filter({ scopes.contains($0.scope) }).flatMap(\.names) + names {
            values[name] = user.claims[name] ?? known[name]
        }
        return values
    }

    var others: JSONObject {
        let standard = Self.ofScopes.flatMap(\.names)
        return JSONObject(user.claims.members.filter { !standard.contains($0.name) }.map { ($0.name, $0.value) })
    }

    private var known: JSONObject {
        let short = String(user.email.prefix { $0 != "@" })
        let facts: JSONObject = [
            "{name}": .string(user.name.display), "{family}": .string(user.name.family),
            "{given}": .string(user.name.given), "{email}": .string(user.email), "{short}": .string(short),
            "{profile}": .string("https://example.com/\(short)"),
            "{picture}": .string("https://example.com/\(short).png"),
            "{website}": .string("https://\(short).example.com/"),
        ]
        var known: JSONObject = ["sub": .string(user.objectID)]
        for scope in Self.table.filled(with: facts).object?.members ?? [] {
            known.replace(by: scope.value.object ?? [:])
        }
        return known
    }
}

/// The claims that a client asks for by their names, in the parameter `claims` (OpenID Connect Core 5.5).
struct RequestedClaims: Sendable, Equatable {
    /// The names of the claims for the response of the user information endpoint.
    var userInfo: [String] = []
    var idToken: [String] = []
    /// What Entra's clients ask of an access token: `xms_cc`, their capabilities, and `acrs`, contexts of a sign-in.
    var accessToken = JSONObject()

    init() {}

    /// The claims that a request of one of Microsoft's clients asks of an access token.
    init(ofAccessToken text: String) {
        let value = (try? JSONValue(parsing: Array(text.utf8)))?.object
        accessToken = value?["access_token"]?.object ?? JSONObject()
    }

    /// The values of a claim that an access token shall have.
    func values(of name: String) -> [JSONValue] {
        let asked = accessToken[name]?.object
        return asked?["values"]?.array ?? [asked?["value"]].compactMap(\.self)
    }

    init(_ value: JSONObject) {
        userInfo = value["userinfo"]?.object?.members.map(\.name) ?? []
        idToken = value["id_token"]?.object?.members.map(\.name) ?? []
        accessToken = value["access_token"]?.object ?? JSONObject()
    }

    /// The shortest value of the parameter for these claims; `nil` if there are none.
    var value: JSONValue? {
        if self == RequestedClaims() { return nil }
        func object(_ names: [String]) -> JSONValue { .object(JSONObject(names.map { ($0, .null) })) }
        return ["userinfo": object(userInfo), "id_token": object(idToken), "access_token": .object(accessToken)]
    }
}
