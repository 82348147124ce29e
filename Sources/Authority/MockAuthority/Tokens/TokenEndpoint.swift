import Basics
import HTTP
import JSON
import OpenSSL
import Synchronization
import Tokens

/// The constants of the token endpoint.
enum TokenEndpoint {
    /// The lifetime of the refresh tokens of a page, in seconds from the first one.
    ///
    /// The service has 24 hours, and no setting for it.
    static let singlePageLifetime: Int64 = 86400
    static let deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"
    static let assertionGrantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
}

/// The token endpoint (RFC 6749 section 3.2) and the grants of all providers.
extension RequestContext {
    /// Reads the form of a `POST` and answers; the service takes parameters from the query too.
    func tokens() -> Decision {
        head.answerForm { form in await answer(form.followed(by: head.target.query)) }
    }

    private func answer(_ parameters: Parameters) async -> Response {
        var context = self
        context.confirmation = parameters["req_cnf"].flatMap { Base64.decodeLenient($0[...]) }.flatMap {
            (try? JSONValue(parsing: $0))?.object
        }
        context.claims = parameters["claims"].map { RequestedClaims(ofAccessToken: $0) }
        do throws(Refusal) {
            return Response.json(try await context.grant(parameters), headers: headers)
        } catch {
            return provider.response(error, self)
        }
    }

    private func grant(_ parameters: Parameters) async throws(Refusal) -> JSONValue {
        let type = try parameters.required("grant_type")
        let client = try await client(parameters)
        let reply: TokenResponse
        switch type {
        case "authorization_code": reply = try await codeGrant(parameters, client)
        case "refresh_token": reply = try await refreshGrant(parameters, client)
        case "password": reply = try await passwordGrant(parameters, client)
        case "client_credentials":
            guard client.isConfidential else { throw Refusal(.secretMissing) }
            return try await provider.clientCredentials(self, parameters, client)
        default:
            guard let other = try await provider.grant(type, self, parameters, client) else {
                throw Refusal(.unsupportedGrant, type)
            }
            reply = other
        }
        return .object(provider.members(of: reply, clientInfo: parameters["client_info"] == "1"))
    }

    /// Renewing a grant always gives a refresh token; otherwise the scope must ask for one.
    func signTokens(for granted: GrantedRequest, renewing old: Grant? = nil) async throws(Refusal) -> TokenResponse {
        if let challenge = run.challenges.withLock({ $0.removeValue(forKey: granted.user.objectID) }) {
            throw .challenge(challenge)
        }
        if lacksConsent(granted.user, granted.client, granted.scope) {
            throw Refusal(.consentMissing, granted.client.id, granted.client.name)
        }
        let claims = provider.claims(of: granted, at: base)
        var response = try await signed { signer throws(PrivateKeyError) in
            try TokenResponse(signing: claims, by: signer, era: responseEra)
        }
        if old != nil || granted.scope.offline { response.refreshToken = refreshToken(granted, renewing: old) }
        return response
    }

    /// What the active key signs.
    func signed<Signed: Sendable>(
        _ sign: (TokenSigner) throws(PrivateKeyError) -> Signed
    ) async throws(Refusal) -> Signed {
        do throws(PrivateKeyError) {
            return try sign(await authority.signer(for: run))
        } catch {
            throw Refusal(.internalError)
        }
    }

    /// A refresh token of a page ends when the token ends that it replaces
    /// (docs/reproduced.md, "Refresh tokens and codes").
    private func refreshToken(_ granted: GrantedRequest, renewing old: Grant?) -> (text: String, lifetime: Int64) {
        let singlePage =
            old?.binding.singlePage ?? (granted.client.singlePage == true || head.headers.contains("Origin"))
        let expires =
            singlePage
            ? old?.expires ?? granted.now + TokenEndpoint.singlePageLifetime
            : min(
                granted.now + provider.traits.refreshLifetime, granted.signIn.time + provider.traits.refreshWindow)
        let binding = Grant.Binding(
            client: granted.client.id, policy: granted.policy.name, scope: old?.binding.scope ?? granted.scope.text,
            singlePage: singlePage)
        let grant = Grant(
            kind: .refresh, ancestor: granted.family, binding: binding, user: granted.user.objectID,
            generation: granted.user.status.generation, signIn: granted.signIn,
            issued: granted.now, expires: expires)
        return (authority.seal.seal(grant), expires - granted.now)
    }

    func granted(_ user: User, _ client: Client, _ scope: Scope, _ signIn: SignIn? = nil) -> GrantedRequest {
        var signIn = signIn ?? SignIn(time: now)
        if let claims { signIn.claims.accessToken = claims.accessToken }
        return GrantedRequest(
            user: user, client: client, policy: policy, scope: scope, signIn: signIn, now: now,
            confirmation: confirmation)
    }

    func scope(_ text: String, _ client: Client) throws(Refusal) -> Scope { try Scope(text, client: client, provider) }

    /// The scope of an application's own token at a service of Microsoft, and the API that the scope names.
    func scopeOfApplication(_ parameters: Parameters, _ client: Client) throws(Refusal) -> (Scope, audience: String) {
        let text = try parameters.required("scope")
        // Java's and Go's libraries of Microsoft always add the scopes of OpenID Connect, which mean nothing here.
        let words = text.spaceSeparated.filter { !provider.traits.standardScopes.contains($0) }
        let isOfApplication = words.allSatisfy { $0.hasSuffix("/.default") }
        let scope = try isOfApplication ? scope(words.joined(separator: " "), client) : Scope()
        guard let audience = scope.audience else { throw Refusal(.scopeOfApplication, text) }
        return (scope, audience)
    }

    /// The authorization code grant (RFC 6749 section 4.1.3) with proof keys (RFC 7636); a code works once.
    func codeGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        let (code, redirectURI) = (try parameters.required("code"), try parameters.required("redirect_uri"))
        let (grant, user) = try redeem(code, .code, client)
        if let bound = grant.binding.redirectURI, !bound.isSame(as: redirectURI) {
            throw Refusal(.grantOfOtherEndpoint, redirectURI, bound)
        }
        if let challenge = grant.binding.challenge {
            try check(parameters["code_verifier"], challenge)
        } else if provider.traits.holdsGrantsToRequest, parameters["code_verifier"] != nil {
            // RFC 9700 section 2.1.1: such a code was requested without the client's proof key.
            throw Refusal(.wrongVerifier)
        }
        try checkOrigin(grant, client, redirectURI)
        guard spend(grant) else { throw Refusal(.codeRedeemed) }
        let scopeText = provider.traits.holdsGrantsToRequest ? nil : parameters["scope"]
        var response = try await signTokens(for: try grantedRequest(grant, user, client, scopeText))
        if parameters["return_spa_code"] == "1", client.isConfidential { response.pageCode = pageCode(grant) }
        return response
    }

    /// Entra tells codes of pages by `Origin`, which only browsers send.
    private func checkOrigin(_ grant: Grant, _ client: Client, _ redirectURI: String) throws(Refusal) {
        guard provider.traits.tellsPagesByOrigin, !configuration.behaviour.lax else { return }
        let isFromPage = head.headers.contains("Origin")
        switch grant.binding.singlePage ? true : client.isPage(at: redirectURI) {
        case true where !isFromPage: throw Refusal(.codeOfPage)
        case false where isFromPage: throw Refusal(.codeOfNoPage)
        default: return
        }
    }

    /// A second code, which the page of a web app redeems without the app's secret (`spa_code`).
    private func pageCode(_ grant: Grant) -> String {
        var code = grant
        (code.identifier, code.ancestor) = (GUID.random(), grant.family)
        code.binding.singlePage = true
        (code.binding.redirectURI, code.binding.challenge) = (nil, nil)
        (code.issued, code.expires) = (now, now + AuthorizationResponse.lifetimeOfCode)
        return authority.seal.seal(code)
    }

    private func check(_ verifier: String?, _ challenge: Grant.Challenge) throws(Refusal) {
        guard let verifier else { throw Refusal(.missingVerifier) }
        let text = challenge.hashed ? Base64URL.encode(SHA256.digest(Array(verifier.utf8))) : verifier
        guard text.isSame(as: challenge.text) else { throw Refusal(.wrongVerifier) }
    }

    /// The refresh grant (RFC 6749 section 6): always a new refresh token; the old one stays good unless switched off.
    func refreshGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        let (grant, user) = try redeem(parameters.required("refresh_token"), .refresh, client)
        let granted = try grantedRequest(grant, user, client, parameters["scope"])
        let isSpent = configuration.behaviour.strictRefresh && !spend(grant)
        guard !isSpent, !run.hasEnded(family: grant.family) else { throw .grantRevoked(grant, now: now) }
        return try await signTokens(for: granted, renewing: grant)
    }

    /// Whether the grant is redeemed for the first time; if not, no refresh token of its family is good any more.
    private func spend(_ grant: Grant) -> Bool {
        let longest = max(provider.traits.refreshLifetime, TokenEndpoint.singlePageLifetime)
        return run.redeemed.withLock { $0.spend(grant, now: now, longest: longest) }
    }

    /// Opens a grant and checks that it is good for this client under this policy now.
    private func redeem(_ text: String, _ kind: Grant.Kind, _ client: Client) throws(Refusal) -> (Grant, User) {
        guard let grant = authority.seal.open(text), grant.kind == kind else {
            throw refusal(ofForeign: text, client) ?? Refusal(.notOurGrant)
        }
        guard grant.expires > now else { throw .grantExpired(grant, now: now) }
        guard grant.binding.client == client.id else { throw Refusal(.otherClient, client.id) }
        guard grant.binding.policy == policy.name else {
            throw Refusal(.grantOfOtherEndpoint, grant.binding.policy, policy.name)
        }
        guard let user = run.directory.user(grant.user) else { throw Refusal(.accountGone) }
        guard !user.status.disabled else { throw Refusal(.accountDisabled) }
        guard user.status.generation == grant.generation else { throw .grantRevoked(grant, now: now) }
        return (grant, user)
    }

    /// The refusal of a refresh token of another tenant of the service, whose person is no guest here.
    private func refusal(ofForeign text: String, _ client: Client) -> Refusal? {
        for other in neighbours where other.configuration.profile == configuration.profile {
            guard let grant = other.seal.open(text), grant.kind == .refresh, let run = try? other.runs.run(runName),
                let user = run.directory.user(grant.user)
            else { continue }
            return Refusal(
                .notGuest, user.email, other.configuration.tenant.id, configuration.tenant.name, client.id, client.name)
        }
        return nil
    }

    /// Grants the scope of this request, or else that of the first one, since most libraries do not repeat the scope.
    private func grantedRequest(
        _ grant: Grant, _ user: User, _ client: Client, _ scopeText: String?
    ) throws(Refusal) -> GrantedRequest {
        let scope = try scope(scopeText ?? grant.binding.scope, client)
        if provider.traits.holdsGrantsToRequest {
            let known = grant.binding.scope.spaceSeparated
            guard scope.asked.allSatisfy(known.contains) else { throw Refusal(.scopeNotGranted) }
        }
        var granted = granted(user, client, scope, grant.signIn)
        granted.family = grant.family
        return granted
    }

    /// The resource owner password credentials grant (RFC 6749 section 4.3), only where the provider allows it.
    func passwordGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        guard provider.allowsPasswordGrant(policy) else { throw Refusal(.passwordGrantDisabled) }
        let (username, password) = (try parameters.required("username"), try parameters.required("password"))
        let scope = try scope(parameters.required("scope"), client)
        guard let user = run.directory.user(email: username, password: password, ofDisabled: true) else {
            throw Refusal(.wrongPassword)
        }
        guard !user.status.disabled else {
            throw Refusal(provider.traits.namesRequest ? .accountDisabled : .wrongPassword)
        }
        let signIn = SignIn(time: now, nonce: parameters["nonce"], local: true)
        return try await signTokens(for: granted(user, client, scope, signIn))
    }

    /// Authenticates a client in one of six forms (docs/reproduced.md, "Client authentication").
    ///
    /// Public with `client_id` in the body; Basic with an empty secret; the secret in the body; Basic with both parts
    /// form-encoded (RFC 6749 section 2.3.1); either of the last with `client_id` in the body again; an assertion.
    func client(_ parameters: Parameters) async throws(Refusal) -> Client {
        let basic = head.headers["Authorization"].flatMap(BasicCredentials.init)
        let ofAssertion = parameters["client_assertion"].flatMap(ClientAssertion.subject(of:))
        guard let id = parameters["client_id"] ?? basic?.user ?? ofAssertion else {
            throw Refusal(.missingParameter, "client_id")
        }
        if let user = basic?.user, !user.isEqualIgnoringCase(to: id) { throw Refusal(.clientMismatch, id, user) }
        let client = try client(called: id)
        if try await checkAssertion(parameters, of: client) { return client }
        let given = parameters["client_secret"] ?? basic?.password
        let grant = (parameters["code"] ?? parameters["refresh_token"]).flatMap(authority.seal.open)
        let isOfPage = given == nil && grant?.binding.singlePage == true
        if !configuration.behaviour.lax, !isOfPage { try check(given, of: client) }
        return client
    }

    private func check(_ given: String?, of client: Client) throws(Refusal) {
        switch (client.secret, given) {
        case (nil, nil) where client.isConfidential: throw Refusal(.secretMissing)
        case (nil, nil): return
        case (nil, _?): throw client.isConfidential ? Refusal(.secretWrong, client.id) : Refusal(.secretUnexpected)
        case (_?, nil): throw Refusal(.secretMissing)
        case (let known?, let given?):
            guard ConstantTime.equal(Array(known.utf8), Array(given.utf8)) else {
                throw Refusal(.secretWrong, client.id)
            }
        }
    }
}

/// The credentials of RFC 7617, form-decoded as RFC 6749 section 2.3.1 asks.
struct BasicCredentials: Sendable, Equatable {
    let user: String
    /// Nothing where it is empty, as oidc-agent sends it.
    let password: String?

    /// Reads the value of an `Authorization` field; nothing for another scheme.
    init?(_ field: String) {
        let parts = field.spaceSeparated
        guard parts.count == 2, parts[0].isEqualIgnoringCase(to: "basic"), let bytes = Base64.decodeLenient(parts[1])
        else { return nil }
        let pair = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = pair.first, !first.isEmpty else { return nil }
        user = Self.decoded(first)
        password = pair.count == 2 && !pair[1].isEmpty ? Self.decoded(pair[1]) : nil
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        // Text that is not form-encoded is taken as it is: curl sends it so.
        let form = Parameters(urlEncoded: Array("v=".utf8) + bytes)
        return form.all.count == 1 ? form["v"] ?? "" : String(decoding: bytes, as: UTF8.self)
    }
}
