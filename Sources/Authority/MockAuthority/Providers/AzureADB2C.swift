import Basics
import HTTP
import JSON
import OpenSSL

/// Azure AD B2C, with a policy in each address (docs/reproduced.md).
struct AzureADB2C: Provider {
    let configuration: Configuration

    var traits: ProviderTraits {
        ProviderTraits(
            title: "Azure AD B2C", reportsToRegisteredURI: true, hasManySessions: false, hasPageOfB2C: true,
            takesClientForScope: true, headerBeginsWithAlgorithm: configuration.behaviour.era == .current,
            refreshWindow: 90 * 86400)
    }
    var sessionCookie: String { "x-ms-cpim-sso:\(tenant.name)_0" }

    func refusal(ofScope word: String, _ client: Client) -> Refusal? {
        unknownScopeOfAPI(word, client) ?? Refusal(.scopeWithoutResource, word)
    }

    func words(of refusal: Refusal, _ context: RequestContext) -> RefusalWords {
        (refusal.error, nil, refusal.description(correlation: context.correlation, now: context.now), nil)
    }

    func accountID(_ granted: GrantedRequest) -> String {
        "\(granted.user.objectID)-\(granted.policy.name.lowercased())"
    }

    func claims(of granted: GrantedRequest, at base: String) -> any TokenClaims {
        B2CClaims(configuration: configuration, granted: granted, base: base)
    }

    /// Issuers have the id of the tenant, a slash at their end, and perhaps the host of a custom domain.
    func issuer(of policy: Policy, at base: String) -> String {
        let start = configuration.behaviour.entra.issuerHost == .request ? base : configuration.issuerBase
        return switch policy.issuer {
        case .tenant: "\(start)/\(tenant.id)/v2.0/"
        case .tfp: "\(start)/tfp/\(tenant.id)/\(policy.name.lowercased())/v2.0/"
        }
    }
}

// MARK: - Addresses and documents

extension Provider {
    /// The endpoints of a policy, which a strict provider has too.
    var routes: [AuthorityRoute<RequestContext>] { Routes.ofPolicies }

    /// Only a token request may leave the policy out, which is then that of the grant.
    func place(of target: RequestTarget, at host: String, beside b2c: Tenant) -> Place? {
        guard let (url, rest) = EndpointURL.ofPolicy(target),
            let run = Tenant.run(of: url.tenant, names: [tenant.name, tenant.id])
        else { return nil }
        let policy = url.policy.flatMap(configuration.policy(named:))
        guard policy != nil || url.policy == nil && url.isPolicyInQuery else { return nil }
        return Place(url: url, path: rest, policy: policy, run: run)
    }

    func notFound(_ head: RequestHead, at base: String, now: Int64) -> Response? {
        var title = "Not found"
        var text =
            "The mock authority has no such page. A tenant and a policy come first: "
            + "/contoso.onmicrosoft.com/b2c_1_sign_in/\(Routes.metadata.path)"
        if let (url, rest) = EndpointURL.ofPolicy(head.target), routes.contains(where: { $0.matches(rest) }) {
            title = "No such policy"
            text =
                "AADB2C90022: Unable to return metadata for the policy '\(url.policy ?? "")' in tenant '\(url.tenant)'."
        }
        // Clients take a status from 500 on for an outage.
        return Page(title: title, content: "<p>\(text)</p>", status: 404).response
    }

    var documentFields: FieldLines { ["Access-Control-Allow-Origin": "*", "Cache-Control": "private"] }

    func keySet(version: Int, _ context: RequestContext) async throws(PrivateKeyError) -> JSONValue {
        try await context.keys.current().keySet
    }
}

extension AzureADB2C {
    func metadata(version: Int, _ context: RequestContext) -> JSONValue {
        context.document("b2c", ["{issuer}": .string(issuer(of: context.policy, at: context.base))])
    }
}

// MARK: - Token responses

extension AzureADB2C {
    func clientCredentials(
        _ context: RequestContext, _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> JSONValue {
        let (scope, audience) = try context.scopeOfApplication(parameters, client)
        let granted = context.granted(User(application: client.id), client, scope)
        var claims = B2CClaims(configuration: configuration, granted: granted, base: context.base)
            .accessToken(audience: audience)
        claims["sub"] = .string(client.id)
        for ofPerson in ["oid", "name"] { claims[ofPerson] = nil }
        let (now, lifetime) = (granted.now, configuration.behaviour.tokenLifetime)
        let era = context.responseEra
        let token = try await context.signed { [claims] signer throws(PrivateKeyError) in try signer.sign(claims) }
        return [
            "access_token": .string(token), "token_type": "Bearer", "not_before": era.number(now),
            "expires_in": era.number(lifetime), "expires_on": era.number(now + lifetime), "resource": .string(audience),
        ]
    }

    /// Clients that send `client_info=1` get another set of members (docs/reproduced.md, "Token responses").
    func members(of response: TokenResponse, clientInfo: Bool) -> JSONObject {
        let (granted, era, hasAccessToken) = (response.granted, response.era, response.accessToken != nil)
        let lifetime = era.number(response.lifetime)
        let scope = clientInfo && hasAccessToken ? granted.scope.resourceWords : granted.scope.asked
        return [
            "access_token": response.accessToken.map { .string($0) }, "id_token": response.idToken.map { .string($0) },
            "token_type": "Bearer", "not_before": era.number(granted.now),
            "expires_in": hasAccessToken ? lifetime : nil,
            "expires_on": hasAccessToken ? era.number(granted.now + response.lifetime) : nil,
            "resource": granted.scope.audience.map { .string($0) },
            "client_info": clientInfo ? .string(granted.clientInformation(self)) : nil,
            "id_token_expires_in": response.idToken == nil || clientInfo ? nil : lifetime,
            "profile_info": clientInfo ? nil : .string(profileInformation(granted.user, era)),
            "scope": .string(scope.joined(separator: " ")),
            "refresh_token": response.refreshToken.map { .string($0.text) },
            "refresh_token_expires_in": response.refreshToken.map { era.number($0.lifetime) },
        ]
    }

    private func profileInformation(_ user: User, _ era: Era) -> String {
        // ADAL compares the name with its own copy, which is in lower case.
        let name = user.email.isEmpty ? user.objectID : user.email.lowercased()
        let profile: JSONObject = [
            "ver": "1.0", "tid": .string(tenant.id), "sub": .null, "name": .string(user.name.display),
            "preferred_username": era.identifiesAlways ? .string(name) : .null,
            "idp": .string(user.status.identityProvider ?? "LocalAccount"),
        ]
        return Base64URL.encode(profile.bytes)
    }
}

extension RequestContext {
    /// The era of token responses to this client: what its library reads if it says so, else the one of the settings.
    ///
    /// A library says what it is in `x-client-SKU`, in a field of its token requests or in the query. ADAL names its
    /// platform only, and only its previews of 2015 and 2016 use these endpoints: on iOS some take the bearer token
    /// from `id_token` without asking for one, and all end the app where `preferred_username` is null.
    ///
    /// Claims, headers of tokens and keys always follow the settings: the API reads them, not the client.
    var responseEra: Era {
        let name = "x-client-SKU"
        let argument = head.target.query.first { $0.name.isEqualIgnoringCase(to: name) }?.value
        let product = head.headers[name] ?? argument ?? ""
        let isADAL = ["iOS", "OSX", "Android", "PCL.Desktop"].contains { $0.isEqualIgnoringCase(to: product) }
        return isADAL ? .preview2015 : configuration.behaviour.era
    }
}

// MARK: - Claims

/// The claims of B2C (docs/reproduced.md, "Claims").
struct B2CClaims: TokenClaims {
    let configuration: Configuration
    let granted: GrantedRequest
    let base: String

    var lifetime: Int64 { configuration.behaviour.tokenLifetime }
    private var era: Era { configuration.behaviour.era }
    private var expiry: JSONValue { .integer(granted.now + lifetime) }
    private var issuer: JSONValue { .string(configuration.provider.issuer(of: granted.policy, at: base)) }
    private var nonce: JSONValue? { granted.signIn.nonce.map { .string($0) } }
    private var user: User { granted.user }

    func idToken(for accessToken: String?, code: String?) -> JSONObject {
        var claims: JSONObject = [
            "exp": expiry, "nbf": .integer(granted.now), "ver": "1.0", "iss": issuer, "sub": subject,
            "aud": .string(granted.client.id), "nonce": nonce, "iat": .integer(granted.now),
            "auth_time": .integer(granted.signIn.time), "oid": .string(user.objectID),
        ]
        addPersonAndPolicy(to: &claims)
        claims["at_hash"] = accessToken.map(TokenSigner.hash)
        claims["c_hash"] = code.map(TokenSigner.hash)
        return claims
    }

    func idToken(ofTokenEndpoint accessToken: String?, _ era: Era) -> JSONObject? {
        granted.scope.openID || era.identifiesAlways ? idToken(for: accessToken, code: nil) : nil
    }

    func accessToken(audience: String) -> JSONObject {
        var claims: JSONObject = [
            "iss": issuer, "exp": expiry, "nbf": .integer(granted.now), "aud": .string(audience),
            "oid": .string(user.objectID), "sub": subject,
        ]
        addPersonAndPolicy(to: &claims)
        claims.replace(by: [
            "nonce": nonce, "scp": granted.scope.claim, "azp": .string(granted.client.id), "ver": "1.0",
            "iat": .integer(granted.now),
        ])
        return claims
    }

    func accessToken(signedBy signer: TokenSigner) throws(PrivateKeyError) -> String? {
        guard let audience = granted.scope.audience else { return nil }
        return try signer.sign(accessToken(audience: audience))
    }

    private var subject: JSONValue { .string(era.subject(user.objectID)) }

    /// Social accounts name their provider; local ones only in the password grant.
    private func addPersonAndPolicy(to claims: inout JSONObject) {
        let provider = user.status.identityProvider ?? (granted.signIn.local ? "LocalAccount" : nil)
        claims.replace(by: [
            "idp": provider.map { .string($0) }, "name": .string(user.name.display),
            "given_name": .nonEmpty(user.name.given), "family_name": .nonEmpty(user.name.family),
            "newUser": granted.signIn.newUser ? true : nil,
            "emails": user.email.isEmpty ? nil : [.string(user.email)],
        ])
        claims.replace(by: user.claims)
        let (name, value) = era.policyClaim(granted.policy)
        claims[name] = .string(value)
    }
}
