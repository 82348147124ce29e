extension TokenEndpoint {
    /// The resource owner password credentials grant (RFC 6749 section 4.3), only under a policy made for it; External ID
    /// and Entra have it only where it is switched on.
    func passwordGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        guard context.allowsPasswordGrant else { throw .passwordGrantDisabled }
        let (username, password) = (try parameters.required("username"), try parameters.required("password"))
        let scope = try scope(parameters.required("scope"), client)
        guard let user = context.run.directory.user(email: username, password: password) else { throw .wrongPassword }
        let signIn = SignIn(time: context.now, nonce: parameters["nonce"], local: true)
        return try await signTokens(for: granted(user, client, scope, signIn))
    }
}
