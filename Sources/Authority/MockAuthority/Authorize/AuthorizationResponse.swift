import HTTP
import JSON
import OpenSSL

/// A successful response to an authorization request (RFC 6749 section 4.1.2): a code, tokens, or both.
struct AuthorizationResponse: Sendable {
    let context: RequestContext
    let request: AuthorizationRequest

    /// The response for the user who signed in: a redirect, or the page that posts itself.
    ///
    /// `signedIn` is in seconds since 1970, `newUser` says whether the sign-in created the account, and `headers` are more
    /// field lines, such as the cookie of the session.
    func response(_ user: User, signedIn: Int64, newUser: Bool, headers: FieldLines = FieldLines()) async -> Response {
        let signIn = SignIn(
            time: signedIn, nonce: request.options.nonce, newUser: newUser, showsTime: request.options.wantsTime,
            claims: request.options.claims)
        let granted = GrantedRequest(
            user: user, client: request.client, policy: context.policy, scope: request.scope, signIn: signIn,
            now: context.now)
        do throws(PrivateKeyError) {
            return request.delivery.response(try await fields(granted), headers: headers)
        } catch {
            return request.delivery.response(.internalError, context)
        }
    }

    /// The parameters, in the order of the service.
    private func fields(_ granted: GrantedRequest) async throws(PrivateKeyError) -> [(String, String)] {
        var fields: [(String, String)] = []
        if let state = request.delivery.state { fields.append(("state", state)) }
        if request.options.clientInfo {
            fields.append(("client_info", granted.clientInformation(context.configuration)))
        }
        let code = request.types.contains(.code) ? code(granted) : nil
        if let code { fields.append(("code", code)) }
        return fields + (try await tokens(granted, code: code))
    }

    /// The tokens that the response type asks for, and no others: a signature is the most expensive part of a response.
    private func tokens(_ granted: GrantedRequest, code: String?) async throws(PrivateKeyError) -> [(String, String)] {
        var fields: [(String, String)] = []
        let claims = context.authority.claims(of: granted, at: context.base)
        var accessToken: String?
        if request.types.contains(.token) {
            accessToken = try claims.accessToken(signedBy: await context.authority.signer(for: context.run))
        }
        if let accessToken {
            fields = [
                ("access_token", accessToken), ("token_type", "Bearer"),
                ("expires_in", "\(claims.lifetime)"), ("scope", granted.scope.text),
            ]
        }
        if request.types.contains(.idToken) {
            let identity = claims.idToken(for: accessToken, code: code)
            fields.append(("id_token", try await context.authority.signer(for: context.run).sign(identity)))
        }
        return fields
    }

    private func code(_ granted: GrantedRequest) -> String {
        let lifetime = context.configuration.behaviour.lifetimes.code
        let grant = Grant(
            kind: .code,
            binding: .init(
                client: granted.client.id, policy: granted.policy.name, scope: granted.scope.text,
                redirectURI: request.delivery.redirectURI, challenge: request.options.challenge),
            user: granted.user.objectID, generation: granted.user.status.generation, signIn: granted.signIn,
            validity: .init(issued: granted.now, expires: granted.now + lifetime))
        return context.authority.seal.seal(grant.members)
    }
}
