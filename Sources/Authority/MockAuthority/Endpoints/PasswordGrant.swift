extension TokenEndpoint {
    /// The resource owner password credentials grant (RFC 6749 section 4.3), only under a policy made for it; External ID
    /// and Entra have it only where it is switched on.
    func passwordGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> any TokenResponse {
        guard context.allowsPasswordGrant else { throw .passwordGrantDisabled }
        guard let username = parameters["username"] else { throw .missingParameter("username") }
        guard let password = parameters["password"] else { throw .missingParameter("password") }
        guard let scopeText = parameters["scope"] else { throw .missingParameter("scope") }
        let scope = try scope(scopeText, client)
        guard let user = context.run.directory.user(email: username, password: password) else { throw .wrongPassword }
        let now = context.now
        let signIn = SignIn(time: now, nonce: parameters["nonce"], local: true)
        return try await signTokens(
            for: GrantedRequest(
                user: user, client: client, policy: context.policy, scope: scope, signIn: signIn, now: now))
    }
}
