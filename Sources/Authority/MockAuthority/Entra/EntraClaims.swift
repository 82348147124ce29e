import Basics
import JSON
import OpenSSL
import Tokens

/// Builds the claims of the v2 tokens of External ID and Entra, in the order of the service
/// (docs/reproduced.md, "Claims").
///
/// `uti` and `aio` are new in every token: no two are equal, unlike B2C's.
struct EntraClaims: TokenClaims {
    let configuration: Configuration
    let granted: GrantedRequest
    let issuer: String
    /// How long the access token lives from now, in seconds.
    let lifetime: Int64

    /// Tokens are dated five minutes back, for clocks that are slow.
    static let datedBack: Int64 = 300
    private static let identityLifetime: Int64 = 3900
    /// The lifetimes from which the service chooses (P-39).
    static let lifetimes: ClosedRange<Int64> = 3900...5700

    init(_ configuration: Configuration, _ granted: GrantedRequest, issuer: String) {
        self.configuration = configuration
        self.granted = granted
        self.issuer = issuer
        let drawn = configuration.behaviour.entra.tokenLifetime ?? Int64.random(in: Self.lifetimes)
        lifetime = drawn - Self.datedBack
    }

    /// The claims of a daemon that speaks for itself.
    init(application client: Client, _ configuration: Configuration, issuer: String, _ now: Int64) {
        let nobody = User(
            objectID: Self.guid("service principal", client.id, configuration.tenant.id), email: "", password: nil,
            name: PersonName(display: ""))
        let policy = Policy("", kind: .signIn)
        self.init(
            configuration,
            GrantedRequest(
                user: nobody, client: client, policy: policy, scope: Scope(), signIn: SignIn(time: now), now: now),
            issuer: issuer)
    }

    private var user: User { granted.user }

    func accessToken(audience: String) -> JSONObject {
        var claims = beginning(audience: audience, lifetime: lifetime + Self.datedBack)
        claims["azp"] = .string(granted.client.id)
        claims["azpacr"] = granted.client.secret == nil ? "0" : "1"
        addPerson(to: &claims)
        if !granted.scope.names.isEmpty { claims["scp"] = .string(granted.scope.names.joined(separator: " ")) }
        addEnd(to: &claims, subjectFor: audience)
        claims["xms_ftd"] = .string(Self.random(32))
        for member in user.claims.members { claims[member.name] = member.value }
        return claims
    }

    func idToken(for accessToken: String?, code: String?) -> JSONObject {
        var claims = beginning(audience: granted.client.id, lifetime: Self.identityLifetime)
        if granted.signIn.showsTime { claims["auth_time"] = .integer(granted.signIn.time) }
        claims["at_hash"] = accessToken.map(TokenSigner.hash)
        claims["c_hash"] = code.map(TokenSigner.hash)
        if granted.scope.asked.contains("email") { claims["email"] = .string(user.email) }
        addPerson(to: &claims)
        addEnd(to: &claims, subjectFor: granted.client.id)
        for member in user.claims.members { claims[member.name] = member.value }
        return claims
    }

    /// The claims of an application's own token: `oid` and `sub` are of its service principal, `roles` in place of `scp`.
    func application(_ audience: String) -> JSONObject {
        var claims = beginning(audience: audience, lifetime: lifetime + Self.datedBack)
        claims["azp"] = .string(granted.client.id)
        claims["azpacr"] = "1"
        claims["oid"] = .string(user.objectID)
        claims["rh"] = rh
        if audience != Resource.graph.audience { claims["roles"] = ["Tasks.ReadWrite.All"] }
        claims["sub"] = .string(user.objectID)
        claims["tid"] = .string(configuration.tenant.id)
        claims["uti"] = .string(Self.random(16))
        claims["ver"] = "2.0"
        return claims
    }

    private func beginning(audience: String, lifetime: Int64) -> JSONObject {
        let issued = granted.now - Self.datedBack
        return JSONObject([
            ("aud", .string(audience)), ("iss", .string(issuer)), ("iat", .integer(issued)), ("nbf", .integer(issued)),
            ("exp", .integer(issued + lifetime)), ("aio", .string("AXQAi/8" + Self.random(40))),
        ])
    }

    /// Adds the claims that the scope `profile` opens, `oid` among them.
    ///
    /// Clients other than MSAL often forget the scope.
    private func addPerson(to claims: inout JSONObject) {
        claims["idp"] = user.status.identityProvider.map { .string($0) }
        if hasProfile { claims["name"] = .string(user.name.display) }
        claims["nonce"] = claims["azp"] == nil ? granted.signIn.nonce.map { .string($0) } : nil
        if hasProfile {
            claims["oid"] = .string(user.objectID)
            claims["preferred_username"] = .string(user.email)
        }
        claims["rh"] = rh
    }

    private func addEnd(to claims: inout JSONObject, subjectFor application: String) {
        claims["sid"] = .string(Self.sessionID(of: user, at: granted.signIn.time))
        claims["sub"] = .string(Self.subject(of: user.objectID, for: application, in: configuration.tenant))
        if hasProfile { claims["tid"] = .string(configuration.tenant.id) }
        claims["uti"] = .string(Self.random(16))
        claims["ver"] = "2.0"
    }

    private var hasProfile: Bool { granted.scope.asked.contains("profile") }

    private var rh: JSONValue { .string("1.A" + String(Self.hash("rh", configuration.tenant.id).prefix(40)) + ".") }
}

extension EntraClaims {
    /// Returns the pairwise `sub` (OpenID Connect Core 8.1), which differs between applications and never changes.
    static func subject(of objectID: String, for application: String, in tenant: Tenant) -> String {
        hash("subject", tenant.id, application, objectID)
    }

    /// `sid` of a sign-in at this time, in seconds since 1970.
    static func sessionID(of user: User, at time: Int64) -> String { guid("session", user.objectID, "\(time)") }

    /// A GUID that depends on these texts only.
    static func guid(_ parts: String...) -> String {
        GUID.version4(random: Array(SHA256.digest(Array(parts.joined(separator: " ").utf8)).prefix(16)))
    }

    private static func hash(_ parts: String...) -> String {
        Base64URL.encode(SHA256.digest(Array(parts.joined(separator: " ").utf8)))
    }

    static func random(_ count: Int) -> String { Base64URL.encode(SecureRandom.bytes(count)) }
}

extension TenantAuthority {
    /// The claims of a granted request; `base` is scheme and host of the request.
    func claims(of granted: GrantedRequest, at base: String) -> any TokenClaims {
        switch configuration.profile {
        case .b2c: ClaimsBuilder(configuration: configuration, granted: granted)
        case .strict: StrictClaims(configuration: configuration, granted: granted)
        case .externalID, .entra:
            EntraClaims(configuration, granted, issuer: configuration.entraIssuer(at: base))
        }
    }
}
