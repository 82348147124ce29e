import JSON

extension TokenEndpoint {
    static let assertionGrantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// The on-behalf-of grant of Entra (RFC 7523): an API changes the token that it got into one for the next API.
    func onBehalfOfGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        guard client.secret != nil else { throw .secretMissing }
        let assertion = try parameters.required("assertion")
        guard parameters["requested_token_use"] == "on_behalf_of" else {
            throw .missingParameter("requested_token_use")
        }
        let scope = try scope(parameters.required("scope"), client)
        guard let claims = await context.authority.keys.claims(of: assertion) else { throw .assertionForged }
        guard (claims["exp"]?.integer ?? 0) > context.now else { throw .assertionExpired }
        guard claims["aud"]?.string == client.id else { throw .assertionOfOtherAudience }
        let user = context.run.directory.all.first { configuration.isToken(claims, of: $0) }
        // The token of an application has no person.
        guard let user, claims["scp"] != nil, !user.status.disabled else { throw .accountGone }
        return try await signTokens(for: granted(user, client, scope))
    }
}
