import JSON
import OpenSSL

// The client credentials grant (RFC 6749 section 4.4): a token of the application itself.
extension TokenEndpoint {
    func clientCredentialsGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> JSONValue {
        guard client.secret != nil else { throw .secretMissing }
        if configuration.profile == .strict { return try await strictClientCredentials(parameters, client) }
        let scopeText = try parameters.required("scope")
        let scope = try scope(scopeText, client)
        guard let audience = scope.audience, scopeText.spaceSeparated.allSatisfy({ $0.hasSuffix("/.default") }) else {
            throw .scopeOfApplication(scopeText)
        }
        do throws(PrivateKeyError) {
            let signer = try await context.authority.signer(for: context.run)
            return try configuration.profile == .b2c
                ? b2cClientCredentials(client, scope, audience, signer)
                : entraClientCredentials(client, audience, signer)
        } catch {
            throw .internalError
        }
    }

    /// For scopes of an API: a token of which the client is the subject.
    private func strictClientCredentials(
        _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> JSONValue {
        let words = try scope(parameters["scope"] ?? "", client).resourceWords
        let application = User(objectID: client.id, email: "", password: nil, name: PersonName(display: ""))
        let scope = try scope(words.joined(separator: " "), client)
        return try await signTokens(for: granted(application, client, scope)).json(clientInfo: false)
    }

    private func b2cClientCredentials(
        _ client: Client, _ scope: Scope, _ audience: String, _ signer: TokenSigner
    ) throws(PrivateKeyError) -> JSONValue {
        let (now, lifetime) = (context.now, configuration.behaviour.lifetimes.token)
        let (policyName, policy) = configuration.behaviour.era.policyClaim(context.policy)
        let claims = JSONObject([
            ("iss", .string(configuration.issuer(of: context.policy))), ("exp", .integer(now + lifetime)),
            ("nbf", .integer(now)), ("aud", .string(audience)),
            ("sub", .string(client.id)), (policyName, .string(policy)),
            ("scp", .string(scope.names.joined(separator: " "))), ("azp", .string(client.id)), ("ver", "1.0"),
            ("iat", .integer(now)),
        ])
        let era = context.responseEra
        return [
            "access_token": .string(try signer.sign(claims)), "token_type": "Bearer", "not_before": era.number(now),
            "expires_in": era.number(lifetime), "expires_on": era.number(now + lifetime), "resource": .string(audience),
        ]
    }

    private func entraClientCredentials(
        _ client: Client, _ audience: String, _ signer: TokenSigner
    ) throws(PrivateKeyError) -> JSONValue {
        let issuer = configuration.entraIssuer(at: context.base)
        let claims = EntraClaims(application: client, configuration, issuer: issuer, context.now)
        let members = claims.application(audience)
        let isForGraph = audience == Resource.graph.audience
        return [
            "token_type": "Bearer", "expires_in": .integer(claims.lifetime),
            "ext_expires_in": .integer(claims.lifetime),
            "access_token": .string(try isForGraph ? signer.signGraphToken(members) : signer.sign(members)),
        ]
    }
}
