internal import HTTP
internal import JSON
internal import OpenSSL

/// The good answer to an authorization request: a code, tokens, or both.
struct AuthorizationAnswer: Sendable {
    let call: Call
    let request: AuthorizationRequest

    /// The answer for this person.
    ///
    /// - Parameters:
    ///   - user: who signed in.
    ///   - signedIn: when.
    ///   - newUser: whether the account was made just now.
    ///   - headers: more field lines, such as the cookie of the session.
    /// - Returns: a redirect, or the page that posts itself.
    func response(
        _ user: User, signedIn: Int64, newUser: Bool, headers: HeaderFields = HeaderFields()
    ) async -> Response {
        let sign = Issue.SignIn(time: signedIn, nonce: request.options.nonce, newUser: newUser)
        let issue = Issue(
            user: user, client: request.client, policy: call.policy, scope: request.scope, sign: sign, now: call.now)
        do throws(RSAError) {
            return request.delivery.response(try await fields(issue), headers: headers)
        } catch {
            return request.delivery.response(.internalError, correlation: call.correlation, now: call.now)
        }
    }

    /// The parameters, in the order of the captures.
    private func fields(_ issue: Issue) async throws(RSAError) -> [(String, String)] {
        var fields: [(String, String)] = []
        if let state = request.delivery.state { fields.append(("state", state)) }
        let signer = try await call.authority.signer()
        let claims = ClaimsBuilder(configuration: call.configuration, issue: issue)
        let reply = try TokenReply(issue, call.configuration, signer: signer)
        if request.options.clientInfo { fields.append(("client_info", reply.clientInformation)) }
        let code = request.types.contains(.code) ? code(issue) : nil
        if let code { fields.append(("code", code)) }
        let accessToken = request.types.contains(.token) ? reply.accessToken : nil
        if let accessToken {
            fields += [
                ("access_token", accessToken), ("token_type", "Bearer"),
                ("expires_in", "\(call.configuration.behaviour.lifetimes.token)"), ("scope", request.scope.text),
            ]
        }
        if request.types.contains(.idToken) {
            var identity = claims.idToken
            identity["at_hash"] = accessToken.map(TokenSigner.hash)
            identity["c_hash"] = code.map(TokenSigner.hash)
            fields.append(("id_token", try signer.sign(identity)))
        }
        return fields
    }

    private func code(_ issue: Issue) -> String {
        let lifetime = call.configuration.behaviour.lifetimes.code
        let grant = Grant(
            kind: .code,
            binding: .init(
                client: issue.client.id, policy: issue.policy.name, scope: issue.scope.text,
                redirectURI: request.delivery.redirectURI, challenge: request.options.challenge),
            user: issue.user.objectID, generation: issue.user.standing.generation, sign: issue.sign,
            validity: .init(issued: issue.now, expires: issue.now + lifetime))
        return call.authority.seal.seal(grant.members)
    }
}
