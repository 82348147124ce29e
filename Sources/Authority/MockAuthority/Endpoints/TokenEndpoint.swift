import HTTP
import JSON
import OpenSSL

/// The token endpoint (RFC 6749 section 3.2): each grant has a file, and this one has what they share.
struct TokenEndpoint: Sendable {
    let context: RequestContext

    var configuration: Configuration { context.configuration }
    /// The lifetime of the refresh tokens of a page, in seconds from the first one.
    ///
    /// The service has 24 hours, and no setting for it.
    static let singlePageLifetime: Int64 = 86400
    static let deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"
    /// The type of RFC 8628, and the one that the libraries of Microsoft send.
    private static let deviceGrantTypes = [deviceGrantType, "device_code"]

    /// Reads the form of a `POST` and answers; the service takes parameters from the query too.
    func decide() -> Decision {
        context.head.answerForm { form in await answer(form.followed(by: context.head.target.query)) }
    }

    private func answer(_ parameters: Parameters) async -> Response {
        do throws(Refusal) {
            return Response.json(try await grant(parameters), headers: context.headers)
        } catch {
            return refuse(error)
        }
    }

    /// Every refusal of Microsoft's is a 400; B2C's have exactly two members.
    ///
    /// A strict provider answers 401 to a client that failed to authenticate by a header (RFC 6749 section 5.2).
    private func refuse(_ refusal: Refusal) -> Response {
        if configuration.profile.isEntra { return context.response(refusal.entra) }
        let isChallenge =
            configuration.profile == .strict && refusal.standardError == "invalid_client"
            && context.head.headers.contains("Authorization")
        var headers = context.headers
        if isChallenge { headers.append("WWW-Authenticate", "Basic realm=\"\(configuration.tenant.name)\"") }
        let (error, description) = (context.error(of: refusal), context.description(of: refusal))
        return Response.json(
            ["error": .string(error), "error_description": .string(description)], status: isChallenge ? 401 : 400,
            headers: headers)
    }

    private func grant(_ parameters: Parameters) async throws(Refusal) -> JSONValue {
        let type = try parameters.required("grant_type")
        let client = try ClientAuthentication(context: context).client(parameters)
        let reply: TokenResponse
        switch type {
        case "authorization_code": reply = try await codeGrant(parameters, client)
        case "refresh_token": reply = try await refreshGrant(parameters, client)
        case "password": reply = try await passwordGrant(parameters, client)
        case _ where configuration.profile.isEntra && Self.deviceGrantTypes.contains(type):
            reply = try await deviceGrant(parameters, client)
        case Self.assertionGrantType where configuration.profile.isEntra:
            reply = try await onBehalfOfGrant(parameters, client)
        case "client_credentials": return try await clientCredentialsGrant(parameters, client)
        default: throw .unsupportedGrant(type)
        }
        return reply.json(clientInfo: parameters["client_info"] == "1")
    }

    /// Renewing a grant always gives a refresh token; otherwise the scope must ask for one.
    func signTokens(for granted: GrantedRequest, renewing old: Grant? = nil) async throws(Refusal) -> TokenResponse {
        do throws(PrivateKeyError) {
            let signer = try await context.authority.signer(for: context.run)
            var response = try TokenResponse(
                signing: granted, of: context.authority, by: signer, at: context.base, era: context.responseEra)
            if old != nil || granted.scope.offline {
                response.refreshToken = refreshToken(granted, renewing: old)
            }
            return response
        } catch {
            throw .internalError
        }
    }

    /// A refresh token of a page ends when the token ends that it replaces
    /// (docs/reproduced.md, "Refresh tokens and codes").
    private func refreshToken(_ granted: GrantedRequest, renewing old: Grant?) -> (text: String, lifetime: Int64) {
        let singlePage =
            old?.binding.singlePage ?? (granted.client.singlePage || context.head.headers.contains("Origin"))
        let expires =
            singlePage
            ? old?.validity.expires ?? granted.now + Self.singlePageLifetime
            : granted.now + configuration.refreshLifetime
        let binding = Grant.Binding(
            client: granted.client.id, policy: granted.policy.name, scope: old?.binding.scope ?? granted.scope.text,
            singlePage: singlePage)
        let grant = Grant(
            kind: .refresh, ancestor: granted.family, binding: binding, user: granted.user.objectID,
            generation: granted.user.status.generation, signIn: granted.signIn,
            validity: .init(issued: granted.now, expires: expires))
        return (context.authority.seal.seal(grant.members), expires - granted.now)
    }

    /// The request of a person who signs in now, unless a sign-in is given.
    func granted(_ user: User, _ client: Client, _ scope: Scope, _ signIn: SignIn? = nil) -> GrantedRequest {
        GrantedRequest(
            user: user, client: client, policy: context.policy, scope: scope,
            signIn: signIn ?? SignIn(time: context.now), now: context.now)
    }

    func scope(_ text: String, _ client: Client) throws(Refusal) -> Scope {
        try Scope(text, client: client, configuration)
    }
}
