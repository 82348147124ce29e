import HTTP
import JSON
import OpenSSL

/// The response of a strict provider's token endpoint (RFC 6749 section 5.1).
struct StrictTokenResponse: TokenResponse {
    var refreshToken: (text: String, lifetime: Int64)?
    private var members: JSONObject

    /// Signs the access token, and the ID token if `openid` was requested.
    init(signing claims: StrictClaims, _ signer: TokenSigner) throws(PrivateKeyError) {
        let scope = claims.granted.scope
        let accessToken = try claims.accessToken(signedBy: signer)
        members = JSONObject([("token_type", "Bearer"), ("expires_in", .integer(claims.lifetime))])
        members["access_token"] = accessToken.map { .string($0) }
        members["scope"] = .string(scope.text)
        if scope.openID { members["id_token"] = .string(try signer.sign(claims.idToken(for: accessToken, code: nil))) }
    }

    func json(clientInfo: Bool) -> JSONValue {
        var members = members
        members["refresh_token"] = refreshToken.map { .string($0.text) }
        return .object(members)
    }
}

extension TokenEndpoint {
    /// The client credentials grant (RFC 6749 section 4.4) for scopes of an API: a token of which the client is the subject.
    func strictClientCredentialsGrant(
        _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> any TokenResponse {
        guard client.secret != nil else { throw .secretMissing }
        let words = try scope(parameters["scope"] ?? "", client).resourceWords
        let application = User(objectID: client.id, email: "", password: nil, name: PersonName(display: ""))
        return try await signTokens(
            for: GrantedRequest(
                user: application, client: client, policy: context.policy,
                scope: try scope(words.joined(separator: " "), client), signIn: SignIn(time: context.now),
                now: context.now))
    }
}

extension RequestContext {
    /// The refusal in the form of RFC 6749 section 5.2; a client that failed to authenticate by a header gets a 401.
    func standardResponse(_ refusal: Refusal) -> Response {
        let isChallenge = refusal.standardError == "invalid_client" && head.headers.contains("Authorization")
        var headers = headers
        if isChallenge { headers.append("WWW-Authenticate", "Basic realm=\"\(configuration.tenant.name)\"") }
        return Response.json(
            ["error": .string(refusal.standardError), "error_description": .string(refusal.standardDescription)],
            status: isChallenge ? 401 : 400, headers: headers)
    }
}
