import Basics
import HTTP
import JSON
import OpenSSL

extension MockAuthority {
    /// The key of this name of any tenant, as the tenants are in a run.
    func key(_ identifier: String, in run: String) async throws(InputError) -> TokenSigningKey {
        for tenant in tenants {
            let keys = (try? tenant.runs.run(run)).map(tenant.keys) ?? tenant.keys
            let known = try await InputError.needingKeys { () throws(PrivateKeyError) in try await keys.current().all }
            if let found = known.first(where: { $0.key.identifier == identifier }) { return found.key }
        }
        throw InputError(
            message: "No tenant has a key '\(identifier)'. /_mock/keys?profile=external-id lists a tenant's keys.")
    }
}

// Tokens of a tenant without a sign-in.
extension HostContext {
    /// Signs with the key of the specification, which may be another tenant's.
    private func signer(_ specification: TokenSpecification) async throws(InputError) -> TokenSigner {
        if let kid = specification.query["kid"] { return authority.signer(with: try await mock.key(kid, in: runName)) }
        return try await InputError.needingKeys { () throws(PrivateKeyError) in
            authority.signer(with: try await keys.signing())
        }
    }

    func token(_ specification: TokenSpecification) async throws(InputError) -> String {
        let token = try await signed(specification)
        run.issuedTokens.append(
            IssuedToken(time: authority.now(in: run), token: token, defect: specification.bad?.name))
        return token
    }

    private func signed(_ specification: TokenSpecification) async throws(InputError) -> String {
        let granted = try grantedRequest(specification)
        let claims = authority.provider.claims(of: granted, at: base)
        let type = granted.scope.audience == nil ? "JWT" : authority.provider.traits.accessTokenType
        var signer = try await signer(specification)
        signer.type = specification.query["typ"] ?? type
        let maker = BadTokenSigner(
            authority: authority, keys: keys, granted: granted, claims: claims, signer: signer, base: base)
        return try await maker.sign(specification.bad ?? .withoutDefect, specification.changes)
    }

    func tokenResponse(_ specification: TokenSpecification) async throws(InputError) -> JSONValue {
        guard specification.isGood else {
            return ["access_token": .string(try await token(specification)), "token_type": "Bearer"]
        }
        let granted = try grantedRequest(specification)
        return try await InputError.needingKeys { () throws(PrivateKeyError) in
            let claims = authority.provider.claims(of: granted, at: base)
            let response = try TokenResponse(
                signing: claims, by: await authority.signer(for: run), era: configuration.behaviour.era)
            return .object(authority.provider.members(of: response, clientInfo: false))
        }
    }

    private func grantedRequest(_ specification: TokenSpecification) throws(InputError) -> GrantedRequest {
        guard let user = run.directory.user(called: specification.user) else {
            throw unknown("user", specification.user, known: run.directory.all.map(\.email))
        }
        let query = specification.query
        let (policy, client) = (try policy(query["policy"]), try client(query["client"]))
        let now = authority.now(in: run)
        let text = scope(query["scope"] ?? scope(of: client, forBadToken: specification.bad != nil))
        let scope = try rethrowing(as: { InputError(message: $0.text) }) { () throws(Refusal) in
            try Scope(text, client: client, authority.provider)
        }
        let signIn = SignIn(time: now, nonce: specification.changes.nonce, local: policy.allowsPasswordGrant)
        return GrantedRequest(user: user, client: client, policy: policy, scope: scope, signIn: signIn, now: now)
    }

    /// The scope where none is asked.
    ///
    /// B2C's tokens are for the client itself, but those with a defect have the scopes of the API, so that they have no
    /// second one. The others are what MSAL asks for.
    private func scope(of client: Client, forBadToken isBad: Bool) -> String {
        guard authority.provider.traits.takesClientForScope else { return "openid profile \(scopesOfAPI ?? "")" }
        return isBad ? scopesOfAPI ?? client.id : client.id
    }

    /// At Entra with the scopes that every MSAL adds, without which a token lacks the claims of its person.
    private func scope(_ asked: String) -> String {
        guard authority.provider is any EntraProvider else { return asked }
        return (["openid", "profile"].filter { !asked.spaceSeparated.contains($0) } + [asked]).joined(separator: " ")
    }

    private var scopesOfAPI: String? { configuration.applications.resources.first?.fullScopes.joined(separator: " ") }

    private func policy(_ name: String?) throws(InputError) -> Policy {
        guard let policy = name.map(configuration.policy(named:)) ?? configuration.firstPolicy else {
            throw unknown("policy", name ?? "", known: configuration.policies.map(\.name))
        }
        return policy
    }

    private func client(_ id: String?) throws(InputError) -> Client {
        let clients = configuration.applications.clients
        guard let client = id.map({ configuration.applications.client($0) }) ?? clients.first else {
            throw unknown("client", id ?? "", known: clients.map(\.id))
        }
        return client
    }

    private func unknown(_ kind: String, _ name: String, known: [String]) -> InputError {
        InputError(message: "There is no \(kind) '\(name)'. Known: \(known.joined(separator: ", ")).")
    }
}

/// The token that a query asks for (docs/mock-authority.md, "A token").
package struct TokenSpecification: Sendable {
    let query: Parameters
    let user: String
    let bad: BadToken?
    let changes: ClaimChanges

    /// Whether the service could issue such a token.
    var isGood: Bool {
        bad == nil && !["kid", "typ"].contains { query[$0] != nil } && changes == ClaimChanges(nonce: changes.nonce)
    }
}

package struct ClaimChanges: Sendable, Equatable {
    /// Seconds from now to `exp`; negative for an expired token.
    var expiry: Int64?
    var nonce: String?
    var set = JSONObject()
    var drop: [String] = []

    /// Makes the changes; an expired token was issued a lifetime before its expiry.
    func apply(to claims: inout JSONObject, now: Int64, lifetime: Int64) {
        if let expiry {
            claims["exp"] = .integer(now + expiry)
            if expiry <= 0 {
                claims["nbf"] = .integer(now + expiry - lifetime)
                claims["iat"] = .integer(now + expiry - lifetime)
            }
        }
        claims.replace(by: set)
        for name in drop { claims[name] = nil }
    }
}

extension TokenSpecification {
    package static let names = [
        "user", "policy", "client", "scope", "bad", "exp", "nonce", "claim", "drop", "run", "profile", "tenant", "kid",
        "typ",
    ]

    init(_ query: Parameters, _ profile: TenantProfile) throws(InputError) {
        for argument in query.all where !Self.names.contains(argument.name) {
            throw InputError(
                message:
                    "'\(argument.name)' is not a parameter of a token. Known: \(Self.names.joined(separator: ", ")).")
        }
        guard let user = query["user"] else { throw InputError(message: "Say for whom: /_mock/token?user=alice") }
        let name = query["bad"]
        let bad = BadToken.all(of: profile).first { $0.name == name }
        if let name, bad == nil {
            throw InputError(message: "No bad token is called '\(name)'. /_mock/token/bad lists them.")
        }
        self.init(query: query, user: user, bad: bad, changes: try ClaimChanges(query))
    }
}

extension ClaimChanges {
    fileprivate init(_ query: Parameters) throws(InputError) {
        self.init(nonce: query["nonce"], drop: query.values("drop"))
        if let text = query["exp"] {
            guard let seconds = Self.seconds(text) else {
                throw InputError(message: "exp=\(text) is no time from now. Examples: -1h, 90s, 30m, 2d.")
            }
            expiry = seconds
        }
        for pair in query.values("claim") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw InputError(message: "claim=\(pair) is no claim. Example: claim=name=Alice")
            }
            set[String(parts[0])] = Self.value(String(parts[1]))
        }
    }

    private static func value(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Array(text.utf8))) ?? .string(text)
    }

    /// The seconds of `-1h`, `90` or `30m`; a plus in a query has become a space.
    package static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        let unit = text.last.flatMap { units[$0] }
        let digits = (unit == nil ? text[...] : text.dropLast()).drop { $0 == " " }
        guard let number = Int64(digits), (-9_999_999_999...9_999_999_999).contains(number) else { return nil }
        return number * (unit ?? 1)
    }
}
