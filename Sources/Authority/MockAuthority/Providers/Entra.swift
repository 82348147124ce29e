import Basics
import HTTP
import JSON
import OpenSSL

/// A service of Microsoft Entra (docs/reproduced.md): External ID or Entra ID, which differ in their addresses only.
protocol EntraProvider: Provider {
    /// `iss` of v2 tokens and metadata, of a request to this scheme and host; never a slash at its end, unlike B2C's.
    func issuer(of tenant: String, at base: String) -> String

    /// The run and the segment of answers if a first segment of a path names the tenant at this host.
    func name(of segment: String, at host: String, beside b2c: Tenant) -> (run: String, segment: String)?
}

/// Entra External ID: an external tenant, at ciamlogin.com.
struct ExternalID: EntraProvider {
    let configuration: Configuration

    var traits: ProviderTraits { .ofEntra("Entra External ID") }

    /// At login.microsoftonline.com an external tenant has the issuer of that host, as personal accounts always have.
    func issuer(of tenant: String, at base: String) -> String {
        let base = tenant == EntraHost.personalTenant ? EntraHost.loginBase : base
        if configuration.behaviour.entra.issuerHost == .request { return "\(base)/\(tenant)/v2.0" }
        if EntraHost.isLogin(base: base) { return "\(EntraHost.loginBase)/\(tenant)/v2.0" }
        return "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"
    }

    func name(of segment: String, at host: String, beside b2c: Tenant) -> (run: String, segment: String)? {
        let isAtService = host.hasSuffix(EntraHost.customers)
        let label = host.dropLast(EntraHost.customers.count)
        if isAtService, ![tenant.subdomain, tenant.id].contains(where: label.isEqualIgnoringCase) { return nil }
        let isUnique = isAtService || !tenant.name.isEqualIgnoringCase(to: b2c.name)
        return name(of: segment, [tenant.id, tenant.subdomain] + (isUnique ? [tenant.name] : []))
    }
}

/// Entra ID: a workforce tenant, at login.microsoftonline.com.
struct EntraID: EntraProvider {
    let configuration: Configuration

    var traits: ProviderTraits { .ofEntra("Entra ID") }

    func issuer(of tenant: String, at base: String) -> String {
        let isOfRequest = configuration.behaviour.entra.issuerHost == .request
        return "\(isOfRequest ? base : EntraHost.loginBase)/\(tenant)/v2.0"
    }

    func name(of segment: String, at host: String, beside b2c: Tenant) -> (run: String, segment: String)? {
        if host.hasSuffix(EntraHost.customers) { return nil }
        if let several = SeveralTenants(rawValue: segment.lowercased()) { return ("", several.rawValue) }
        return name(of: segment, [tenant.id] + (tenant.name.isEqualIgnoringCase(to: b2c.name) ? [] : [tenant.name]))
    }
}

extension ProviderTraits {
    fileprivate static func ofEntra(_ title: String) -> ProviderTraits {
        ProviderTraits(
            title: title, prompts: ["create"], namesRequest: true, tellsPagesByOrigin: true,
            asksForConsent: true, authorizesSeveralAPIs: true,
            refreshLifetime: 90 * 86400)
    }
}

enum EntraHost {
    static let loginBase = "https://login.microsoftonline.com"
    static let customers = ".ciamlogin.com"
    /// The aliases of the public cloud.
    static let login = ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"]
    /// `cloud_instance_name` of the public cloud.
    static let cloud = "microsoftonline.com"
    static let graph = "graph.microsoft.com"
    static let graphBase = "https://\(graph)"
    /// The application id of Microsoft Graph.
    static let graphID = "00000003-0000-0000-c000-000000000000"
    /// The tenant of personal Microsoft accounts.
    static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    static func isLogin(base: String) -> Bool { WebAddress(base).map { login.contains($0.host) } ?? false }
}

/// The first segments that name no tenant: any, or the tenant of personal accounts.
enum SeveralTenants: String {
    case common
    case organizations
    case consumers

    /// The id of the tenant in issuers, which may be a template.
    var idInIssuers: String { self == .consumers ? EntraHost.personalTenant : "{tenantid}" }
}

// MARK: - Addresses

extension EntraProvider {
    var routes: [AuthorityRoute<RequestContext>] { Routes.ofEntra }

    /// A path that names a policy in its query is B2C's, except at the hosts of External ID.
    func place(of target: RequestTarget, at host: String, beside b2c: Tenant) -> Place? {
        guard target["p"] == nil || host.hasSuffix(EntraHost.customers), let first = target.path.first,
            let name = name(of: first, at: host, beside: b2c)
        else { return nil }
        let url = EndpointURL(tenant: name.segment)
        return Place(url: url, path: target.path.dropFirst(), policy: configuration.policies.first, run: name.run)
    }

    /// Answers name the id, whatever the request named (docs/reproduced.md, "Addresses").
    fileprivate func name(of segment: String, _ names: [String]) -> (run: String, segment: String)? {
        Tenant.run(of: segment, names: names).map { ($0, $0.isEmpty ? tenant.id : "\($0).\(tenant.id)") }
    }

    func notFound(_ head: RequestHead, at base: String, now: Int64) -> Response? {
        let isOfService =
            WebAddress(base)?.host.hasSuffix(EntraHost.customers) ?? false || EntraHost.isLogin(base: base)
        guard isOfService, head.target["p"] == nil, let tenant = head.target.path.first,
            routes.contains(where: { $0.matches(head.target.path.dropFirst()) })
        else { return nil }
        let correlation = RequestContext.correlation(of: head)
        return Response.json(
            Refusal(.unknownTenant, tenant).entra.json(correlation: correlation, now: now), status: 400)
    }

    func issuer(of policy: Policy, at base: String) -> String { issuer(of: tenant.id, at: base) }
}

// MARK: - Requests and their refusals

extension EntraProvider {
    func words(of refusal: Refusal, _ context: RequestContext) -> RefusalWords {
        let error = refusal.entra
        let text = error.description(trace: context.trace, correlation: context.correlation, now: context.now)
        return (error.error, error.subcode, text, error.uri)
    }

    func response(_ refusal: Refusal, _ context: RequestContext) -> Response {
        let (error, id) = (refusal.entra, context.correlation)
        return context.refused(error.json(trace: context.trace, correlation: id, now: context.now), error.status)
    }

    /// Every API, and Microsoft Graph, for which every tenant gives tokens; an API is also named by its application id.
    var resources: [(resource: Resource, prefixes: [String])] {
        (configuration.applications.resources + [.graph]).map { ($0, ["\($0.identifier)/", "\($0.audience)/"]) }
    }

    func isSameScope(_ registered: String, _ asked: String) -> Bool { registered.isEqualIgnoringCase(to: asked) }

    /// A bare name is taken for a scope of Graph.
    func refusal(ofScope word: String, _ client: Client) -> Refusal? {
        if let refusal = unknownScopeOfAPI(word, client) { return refusal }
        if GUID.canonical(word) != nil { return Refusal(.scopeWithoutResource, word) }
        return Refusal(.noSuchScope, word, client.title, word, Resource.graph.audience)
    }
}

extension Resource {
    static let graph = Resource(
        identifier: EntraHost.graphBase, audience: EntraHost.graphID,
        scopes: [
            "User.Read", "User.ReadWrite", "User.ReadBasic.All", "User.Read.All", "Mail.Read", "Mail.Send",
            "Calendars.Read", "Calendars.ReadWrite", "Contacts.Read", "Files.Read", "Group.Read.All",
            "Directory.Read.All",
        ])
}

// MARK: - Tokens

extension EntraProvider {
    func read(
        _ parameters: Parameters, for types: Set<ResponseType>, into options: inout AuthorizationRequest.Options
    ) throws(Refusal) {
        options.claims = RequestedClaims(ofAccessToken: parameters["claims"] ?? "")
    }

    func allowsPasswordGrant(_ policy: Policy) -> Bool { configuration.behaviour.entra.passwordGrant }

    func claims(of granted: GrantedRequest, at base: String) -> any TokenClaims { EntraClaims(self, granted, at: base) }

    func grant(
        _ type: String, _ context: RequestContext, _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> TokenResponse? {
        switch type {
        // The type of RFC 8628, and the one that the libraries of Microsoft send.
        case TokenEndpoint.deviceGrantType, "device_code": try await context.deviceGrant(parameters, client)
        case TokenEndpoint.assertionGrantType: try await context.onBehalfOfGrant(parameters, client)
        default: nil
        }
    }

    func clientCredentials(
        _ context: RequestContext, _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> JSONValue {
        let (_, audience) = try context.scopeOfApplication(parameters, client)
        let claims = EntraClaims(
            self, application: client, now: context.now, at: context.base, confirmation: context.confirmation,
            claims: context.claims ?? RequestedClaims())
        let (members, lifetime) = (claims.application(audience), JSONValue.integer(claims.lifetime))
        let isForGraph = audience == Resource.graph.audience
        let token = try await context.signed { signer throws(PrivateKeyError) in
            try isForGraph ? signer.signGraphToken(members) : signer.sign(members)
        }
        return [
            "token_type": claims.granted.tokenType, "expires_in": lifetime, "ext_expires_in": lifetime,
            "access_token": .string(token),
        ]
    }

    /// The service never names `offline_access` (docs/reproduced.md, "Token responses").
    func members(of response: TokenResponse, clientInfo: Bool) -> JSONObject {
        let granted = response.granted
        let scope = granted.scope.answered.filter { $0 != "offline_access" }.joined(separator: " ")
        return [
            "token_type": granted.tokenType, "scope": .string(scope), "expires_in": .integer(response.lifetime),
            "ext_expires_in": .integer(response.lifetime), "access_token": response.accessToken.map { .string($0) },
            "refresh_token": response.refreshToken.map { .string($0.text) },
            "id_token": response.idToken.map { .string($0) },
            "client_info": clientInfo ? .string(granted.clientInformation(self)) : nil,
            "spa_code": response.pageCode.map { .string($0) },
        ]
    }
}

extension GrantedRequest {
    /// `pop` for a token that is bound to a key of the client (`req_cnf`).
    fileprivate var tokenType: JSONValue { confirmation == nil ? "Bearer" : "pop" }
}

extension RequestContext {
    /// The on-behalf-of grant of Entra (RFC 7523): an API changes the token that it got into one for the next API.
    fileprivate func onBehalfOfGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse
    {
        guard client.isConfidential else { throw Refusal(.secretMissing) }
        let assertion = try parameters.required("assertion")
        guard parameters["requested_token_use"] == "on_behalf_of" else {
            throw Refusal(.missingParameter, "requested_token_use")
        }
        let scope = try scope(parameters.required("scope"), client)
        guard let claims = await keys.claims(of: assertion) else { throw Refusal(.assertionForged) }
        guard (claims["exp"]?.integer ?? 0) > now else { throw Refusal(.assertionExpired) }
        guard claims["aud"]?.string == client.id else { throw Refusal(.assertionOfOtherAudience) }
        let namesItself = scope.resourceWords.allSatisfy { $0.lowercased().hasPrefix(client.id.lowercased()) }
        guard scope.audience != client.id || namesItself else { throw Refusal(.tokenForItself, client.id, client.name) }
        let user = run.directory.all.first { provider.isToken(claims, of: $0) }
        // The token of an application has no person.
        guard let user, claims["scp"] != nil else { throw Refusal(.accountGone) }
        guard !user.status.disabled else { throw Refusal(.accountDisabled) }
        return try await signTokens(for: granted(user, client, scope))
    }
}

// MARK: - Documents

extension EntraProvider {
    var documentFields: FieldLines {
        [
            "Cache-Control": "max-age=86400, private", "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, OPTIONS",
        ]
    }

    /// Each key with the issuer of the tokens that it signs: of `common`, a template, and the tenant of persons.
    func keySet(version: Int, _ context: RequestContext) async throws(PrivateKeyError) -> JSONValue {
        let several = SeveralTenants(rawValue: context.url.tenant)
        var rings = several == .consumers ? [] : [(context.keys, several?.idInIssuers ?? tenant.id)]
        if several == .common || several == .consumers, let personal = context.authority.personalKeys {
            rings.append((personal, EntraHost.personalTenant))
        }
        var shown: [JSONValue] = []
        for (ring, tenant) in rings {
            let issuer = version == 1 ? nil : issuer(of: tenant, at: context.base)
            for key in try await ring.current().published {
                shown.append(try key.entraKey(ring.naming.subject, issuer: issuer))
            }
        }
        return ["keys": .array(shown)]
    }

    func metadata(version: Int, _ context: RequestContext) -> JSONValue {
        let several = SeveralTenants(rawValue: context.url.tenant)
        let tenant = several?.idInIssuers ?? tenant.id
        let issuer = version == 1 ? "https://sts.windows.net/\(tenant)/" : issuer(of: tenant, at: context.base)
        return context.document(
            "entra",
            [
                "{issuer}": .string(issuer), "{userinfo}": context.address(of: Routes.userInfoOfGraph),
                "{keys}": context.address(of: version == 1 ? Routes.keysOfVersionOne : Routes.keys),
                "{kerberos}": .string("\(context.base)/\(context.url.tenant)/kerberos"),
                "{region}": several == nil ? "NA" : .null,
            ])
    }
}

extension TokenSigningKey {
    /// The members of the service, in its order: no `alg`, no `nbf`; in sets of version 1 no `issuer`.
    ///
    /// `x5t` is the hash of the certificate in `x5c`, and so is `kid` (``KeyNaming``).
    fileprivate func entraKey(_ subject: String, issuer: String?) throws(PrivateKeyError) -> JSONValue {
        let certificate = try CertificateMaker(now: notBefore).tokenSigning(privateKey, name: subject)
        return [
            "kty": "RSA", "use": "sig", "kid": .string(identifier), "x5t": .string(identifier), "n": .string(modulus),
            "e": .string(exponent), "x5c": [.string(Base64.encode(certificate))],
            "cloud_instance_name": .string(EntraHost.cloud), "issuer": issuer.map { .string($0) },
        ]
    }
}
