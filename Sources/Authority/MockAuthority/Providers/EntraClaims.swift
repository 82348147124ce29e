import Basics
import JSON
import OpenSSL
import Tokens

/// Builds the claims of the v2 tokens of External ID and Entra, in the order of the service
/// (docs/reproduced.md, "Claims").
///
/// `uti` and `aio` are new in every token: no two are equal, unlike B2C's.
struct EntraClaims: TokenClaims {
    let provider: any EntraProvider
    let granted: GrantedRequest
    let base: String
    let issuer: String
    let lifetime: Int64

    /// Tokens are dated five minutes back, for clocks that are slow.
    static let datedBack: Int64 = 300
    private static let identityLifetime: Int64 = 3900
    private static let mostGroups = 200
    /// The lifetimes from which the service chooses (P-39).
    static let lifetimes: ClosedRange<Int64> = 3900...5700
    /// Those for clients that understand claims challenges, by which an API ends a token earlier (20 to 28 hours).
    static let longLifetimes: ClosedRange<Int64> = 72000...100_800

    init(_ provider: any EntraProvider, _ granted: GrantedRequest, at base: String) {
        (self.provider, self.granted, self.base) = (provider, granted, base)
        issuer = provider.issuer(of: provider.tenant.id, at: base)
        let capabilities = granted.signIn.claims.values(of: "xms_cc").compactMap(\.string)
        let isEvaluated = capabilities.contains { $0.isEqualIgnoringCase(to: "cp1") }
        let lifetimes = isEvaluated ? Self.longLifetimes : Self.lifetimes
        let drawn = provider.configuration.behaviour.entra.tokenLifetime ?? Int64.random(in: lifetimes)
        lifetime = drawn - Self.datedBack
    }

    /// The claims of a daemon that speaks for itself.
    init(
        _ provider: any EntraProvider, application client: Client, now: Int64, at base: String,
        confirmation: JSONObject? = nil, claims: RequestedClaims = RequestedClaims()
    ) {
        let nobody = User(application: Self.guid("service principal", client.id, provider.tenant.id))
        let granted = GrantedRequest(
            user: nobody, client: client, policy: Policy("", kind: .signIn), scope: Scope(),
            signIn: SignIn(time: now, claims: claims), now: now, confirmation: confirmation)
        self.init(provider, granted, at: base)
    }

    private var tenant: Tenant { provider.tenant }
    private var user: User { granted.user }

    func accessToken(audience: String) -> JSONObject {
        var claims = beginning(audience: audience, lifetime: lifetime + Self.datedBack)
        claims.replace(by: ["azp": .string(granted.client.id), "azpacr": clientAuthentication])
        addPerson(to: &claims)
        claims.replace(by: ["roles": roles(of: user.email, at: audience), "scp": granted.scope.claim])
        addEnd(to: &claims, subjectFor: audience)
        claims.replace(by: asked)
        claims.replace(by: ["xms_ftd": .string(Self.random(32)), "cnf": confirmation])
        claims.replace(by: groups)
        claims.replace(by: user.claims)
        return claims
    }

    func idToken(for accessToken: String?, code: String?) -> JSONObject {
        var claims = beginning(audience: granted.client.id, lifetime: Self.identityLifetime)
        claims.replace(by: [
            "auth_time": granted.signIn.showsTime ? .integer(granted.signIn.time) : nil,
            "at_hash": accessToken.map(TokenSigner.hash), "c_hash": code.map(TokenSigner.hash),
            "email": granted.scope.asked.contains("email") ? .string(user.email) : nil,
        ])
        addPerson(to: &claims)
        claims["roles"] = roles(of: user.email, at: granted.client.id)
        addEnd(to: &claims, subjectFor: granted.client.id)
        claims.replace(by: groups)
        claims.replace(by: user.claims)
        return claims
    }

    /// Hashes of the access token are in the ID tokens of the authorization endpoint only.
    func idToken(ofTokenEndpoint accessToken: String?, _ era: Era) -> JSONObject? {
        granted.scope.openID ? idToken(for: nil, code: nil) : nil
    }

    /// The claims of an application's own token: `oid` and `sub` name its service principal, and `roles` replace `scp`.
    func application(_ audience: String) -> JSONObject {
        var claims = beginning(audience: audience, lifetime: lifetime + Self.datedBack)
        claims.replace(by: [
            "azp": .string(granted.client.id), "azpacr": clientAuthentication, "oid": .string(user.objectID), "rh": rh,
            "roles": roles(of: granted.client.id, at: audience),
            "sub": .string(user.objectID), "tid": .string(tenant.id), "uti": .string(Self.random(16)), "ver": "2.0",
            "xms_ftd": .string(Self.random(32)), "cnf": confirmation,
        ])
        claims.replace(by: asked)
        return claims
    }

    /// `azpacr` and `appidacr`: 0 for a public client, 1 for one with a secret, 2 for one that signs assertions.
    private var clientAuthentication: JSONValue {
        granted.client.secret != nil ? "1" : granted.client.isConfidential ? "2" : "0"
    }

    /// The app roles of a client or a user at an API.
    private func roles(of name: String, at audience: String) -> JSONValue? {
        let resource = provider.configuration.applications.resources.first { $0.audience == audience }
        let roles = resource?.roles.first { $0.key.isEqualIgnoringCase(to: name) }?.value ?? []
        return roles.isEmpty ? nil : .array(roles.map { .string($0) })
    }

    /// The groups of the person, or where they are too many for a token the place that tells them.
    private var groups: JSONObject {
        guard user.groups.count > Self.mostGroups else {
            return user.groups.isEmpty ? [:] : ["groups": .array(user.groups.map { .string($0) })]
        }
        let place = "\(base)/v1.0/users/\(user.objectID)/getMemberObjects"
        return ["_claim_names": ["groups": "src1"], "_claim_sources": ["src1": ["endpoint": .string(place)]]]
    }

    /// The authentication contexts and the capabilities that the client names in `claims`.
    private var asked: JSONObject {
        JSONObject(
            ["acrs", "xms_cc"].map { ($0, granted.signIn.claims.values(of: $0)) }.filter { !$0.1.isEmpty }.map {
                ($0, .array($1))
            })
    }

    private var confirmation: JSONValue? { granted.confirmation.map { .object($0) } }

    private func beginning(audience: String, lifetime: Int64) -> JSONObject {
        let issued = granted.now - Self.datedBack
        return [
            "aud": .string(audience), "iss": .string(issuer), "iat": .integer(issued), "nbf": .integer(issued),
            "exp": .integer(issued + lifetime), "aio": .string("AXQAi/8" + Self.random(40)),
        ]
    }

    /// Adds the claims that the scope `profile` opens, `oid` among them.
    ///
    /// Clients other than MSAL often forget the scope.
    private func addPerson(to claims: inout JSONObject) {
        let isIdentity = claims["azp"] == nil
        claims.replace(by: [
            "idp": user.status.identityProvider.map { .string($0) },
            "name": hasProfile ? .string(user.name.display) : nil,
            "nonce": isIdentity ? granted.signIn.nonce.map { .string($0) } : nil,
            "oid": hasProfile ? .string(user.objectID) : nil,
            "preferred_username": hasProfile ? .string(user.email) : nil, "rh": rh,
        ])
    }

    private func addEnd(to claims: inout JSONObject, subjectFor application: String) {
        claims.replace(by: [
            "sid": .string(Self.sessionID(of: user, at: granted.signIn.time)),
            "sub": .string(Self.subject(of: user.objectID, for: application, in: tenant)),
            "tid": hasProfile || claims["azp"] == nil ? .string(tenant.id) : nil, "uti": .string(Self.random(16)),
            "ver": "2.0",
        ])
    }

    private var hasProfile: Bool { granted.scope.asked.contains("profile") }

    private var rh: JSONValue { .string("1.A" + String(Self.hash("rh", tenant.id).prefix(40)) + ".") }

    /// Returns the pairwise `sub` (OpenID Connect Core 8.1), which differs between applications and never changes.
    static func subject(of objectID: String, for application: String, in tenant: Tenant) -> String {
        hash("subject", tenant.id, application, objectID)
    }

    /// `sid` of a sign-in at this time, in seconds since 1970.
    static func sessionID(of user: User, at time: Int64) -> String { guid("session", user.objectID, "\(time)") }

    static func guid(_ parts: String...) -> String {
        GUID.version4(random: Array(SHA256.digest(Array(parts.joined(separator: " ").utf8)).prefix(16)))
    }

    private static func hash(_ parts: String...) -> String {
        Base64URL.encode(SHA256.digest(Array(parts.joined(separator: " ").utf8)))
    }

    static func random(_ count: Int) -> String { Base64URL.encode(SecureRandom.bytes(count)) }

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

    /// The claims of an access token of version 1.
    var versionOne: JSONObject {
        let (issued, audience) = (granted.now - Self.datedBack, granted.scope.audience ?? "")
        return [
            "aud": .string("api://\(audience)"), "iss": .string("https://sts.windows.net/\(tenant.id)/"),
            "iat": .integer(issued), "nbf": .integer(issued), "exp": .integer(issued + lifetime + Self.datedBack),
            "acr": "1", "aio": .string(Self.random(32)), "amr": ["pwd"], "appid": .string(granted.client.id),
            "appidacr": clientAuthentication, "family_name": .nonEmpty(user.name.family),
            "given_name": .nonEmpty(user.name.given), "ipaddr": "192.0.2.1", "name": .string(user.name.display),
            "oid": .string(user.objectID), "scp": granted.scope.claim,
            "sub": .string(Self.subject(of: user.objectID, for: audience, in: tenant)), "tid": .string(tenant.id),
            "unique_name": .string(user.email), "uti": .string(Self.random(16)), "ver": "1.0",
        ]
    }
}

extension TokenSigner {
    /// The header of tokens of version 1, which names the key twice; those for Graph have a nonce.
    func headerOfVersionOne(nonce: String? = nil) -> JSONObject {
        let kid = JSONValue.string(key.identifier)
        return ["typ": "JWT", "nonce": nonce.map { .string($0) }, "alg": "RS256", "x5t": kid, "kid": kid]
    }

    static func hash(ofNonce nonce: String) -> String { Base64URL.encode(SHA256.digest(Array(nonce.utf8))) }

    /// A token that only Microsoft Graph can verify: its signature covers a hash of the `nonce` of the header.
    func signGraphToken(_ claims: JSONObject) throws(PrivateKeyError) -> String {
        let nonce = EntraClaims.random(32)
        let payload = claims.bytes
        let token = try sign(header: headerOfVersionOne(nonce: Self.hash(ofNonce: nonce)).bytes, payload: payload)
        let signature = token.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        let given = Self.input(header: headerOfVersionOne(nonce: nonce).bytes, payload: payload) + "." + signature
        record(given)
        return given
    }
}
