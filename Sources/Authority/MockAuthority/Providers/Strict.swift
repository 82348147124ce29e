import HTTP
import JSON
import OpenSSL

/// An OpenID provider without Microsoft's deviations (docs/mock-authority.md, "An OpenID provider by the standards").
struct StrictProvider: Provider {
    let configuration: Configuration

    var traits: ProviderTraits {
        ProviderTraits(
            title: "OpenID Connect", takesSeveralPrompts: true, matchesRedirectURIsExactly: true, insistsOnHint: true,
            holdsGrantsToRequest: true, takesTokenInForm: true,
            standardScopes: ["openid", "offline_access"] + StandardClaims.ofScopes.map(\.scope), personClaim: "sub",
            scopeClaim: "scope", accessTokenType: "at+jwt")
    }

    var routes: [AuthorityRoute<RequestContext>] { Routes.ofStrict }

    /// Scopes that are not understood are ignored (OpenID Connect Core 3.1.2.1).
    func refusal(ofScope word: String, _ client: Client) -> Refusal? { nil }

    /// The issuer is the beginning of the address of the metadata (OpenID Connect Discovery 1.0 section 4.3).
    func issuer(of policy: Policy, at base: String) -> String {
        "\(configuration.issuerBase)/\(tenant.name)/\(policy.name.lowercased())/v2.0"
    }

    func claims(of granted: GrantedRequest, at base: String) -> any TokenClaims {
        StrictClaims(configuration: configuration, granted: granted)
    }
}

extension StrictProvider {
    /// The discovery document (OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2).
    func metadata(version: Int, _ context: RequestContext) -> JSONValue {
        let claims =
            ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr"] + StandardClaims.ofScopes.flatMap(\.names)
        let grants = ["authorization_code", "implicit", "refresh_token", "client_credentials"]
        let all = grants + (allowsPasswordGrant(context.policy) ? ["password"] : [])
        return context.document(
            "strict",
            [
                "{issuer}": .string(issuer(of: context.policy, at: context.base)),
                "{scopes}": .array(traits.standardScopes.map { .string($0) }),
                "{claims}": .array(claims.map { .string($0) }), "{grants}": .array(all.map { .string($0) }),
                "{acr}": [.string(StrictClaims.context)],
            ], at: \.belowIssuer)
    }
}

// MARK: - Requests and their refusals

extension StrictProvider {
    /// Parameters that carry a whole request need not be supported (OpenID Connect Core 3.1.2.6).
    func checkSupport(_ parameters: Parameters) throws(Refusal) {
        for name in ["request", "request_uri", "registration"] where parameters[name] != nil {
            throw Refusal(.parameterNotSupported, name)
        }
        _ = try parameters.required("response_type")
    }

    /// Reads what the standards have, and forgets what only Microsoft's clients send.
    func read(
        _ parameters: Parameters, for types: Set<ResponseType>, into options: inout AuthorizationRequest.Options
    ) throws(Refusal) {
        options.hint.session = nil
        options.clientInfo = false
        if types.contains(.idToken) { _ = try parameters.required("nonce") }
        if parameters["max_age"] != nil, (options.maximumAge ?? -1) < 0 { throw Refusal(.malformed, "max_age") }
        guard let text = parameters["claims"] else { return }
        guard let asked = (try? JSONValue(parsing: Array(text.utf8)))?.object else {
            throw Refusal(.malformed, "claims")
        }
        options.claims = RequestedClaims(asked)
        let ofToken = asked["id_token"]?.object
        options.hint.subject = ofToken?["sub"]?.object?["value"]?.string
        if let acr = ofToken?["acr"]?.object, acr["essential"]?.boolean == true {
            // OpenID Connect Core 5.5.1.1: an essential context that cannot be had is a failed sign-in.
            let values = [acr["value"] ?? .null] + (acr["values"]?.array ?? [])
            let wanted = values.compactMap(\.string)
            guard wanted.isEmpty || wanted.contains(StrictClaims.context) else { throw Refusal(.unmetAuthentication) }
        }
    }

    func words(of refusal: Refusal, _ context: RequestContext) -> RefusalWords {
        (refusal.standardError, nil, refusal.standardDescription, nil)
    }

    /// Answers 401 to a client that failed to authenticate by a header (RFC 6749 section 5.2).
    func response(_ refusal: Refusal, _ context: RequestContext) -> Response {
        let isChallenge = refusal.standardError == "invalid_client" && context.head.headers.contains("Authorization")
        return context.refused(context.words(of: refusal), isChallenge ? 401 : 400)
    }
}

// MARK: - Tokens and the person

extension StrictProvider {
    /// For scopes of an API: a token of which the client is the subject.
    func clientCredentials(
        _ context: RequestContext, _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> JSONValue {
        let words = try context.scope(parameters["scope"] ?? "", client).resourceWords
        let scope = try context.scope(words.joined(separator: " "), client)
        let granted = context.granted(User(application: client.id), client, scope)
        let response = try await context.signTokens(for: granted)
        return .object(members(of: response, clientInfo: false))
    }

    func members(of response: TokenResponse, clientInfo: Bool) -> JSONObject {
        [
            "token_type": "Bearer", "expires_in": .integer(response.lifetime),
            "access_token": response.accessToken.map { .string($0) }, "scope": .string(response.granted.scope.text),
            "id_token": response.idToken.map { .string($0) },
            "refresh_token": response.refreshToken.map { .string($0.text) },
        ]
    }

    /// Answers with the claims of the scope and of the parameter `claims` (OpenID Connect Core 5.3.2).
    func userInfo(_ user: User, _ claims: JSONObject, _ context: RequestContext) throws(BearerRefusal) -> JSONObject {
        let hasEnded = claims["grant_id"]?.string.map(context.run.hasEnded(family:)) ?? false
        guard let scope = claims["scope"]?.string, !hasEnded, !user.status.disabled,
            claims["iss"]?.string == configuration.issuer(of: context.policy)
        else { throw .invalidToken }
        let scopes = scope.spaceSeparated
        guard scopes.contains("openid") else { throw .insufficientScope }
        var answer: JSONObject = ["sub": .string(user.objectID)]
        let names = claims["userinfo_claims"]?.array?.compactMap(\.string) ?? []
        answer.replace(by: StandardClaims(user: user).values(of: scopes, and: names))
        return answer
    }
}
