import JSON
import OpenSSL

extension TokenEndpoint {
    /// The client credentials grant (RFC 6749 section 4.4): a token of the application itself, without `oid`.
    func clientCredentialsGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> JSONValue {
        guard client.secret != nil else { throw .secretMissing }
        guard let scopeText = parameters["scope"] else { throw .missingParameter("scope") }
        let scope = try scope(scopeText, client)
        guard let audience = scope.audience, scopeText.spaceSeparated.allSatisfy({ $0.hasSuffix("/.default") }) else {
            throw .scopeOfApplication(scopeText)
        }
        do throws(PrivateKeyError) {
            let signer = try await context.authority.signer(for: context.run)
            guard configuration.profile == .b2c else {
                let claims = EntraClaims(application: client, configuration, issuer: context.entraIssuer, context.now)
                let members = claims.application(audience)
                let isForGraph = audience == Resource.graph.audience
                let token = try isForGraph ? signer.signGraphToken(members) : signer.sign(members)
                return EntraTokenResponse.application(token, claims.lifetime)
            }
            return reply(try signer.sign(applicationClaims(client, audience, scope)), audience)
        } catch {
            throw .internalError
        }
    }

    private func applicationClaims(_ client: Client, _ audience: String, _ scope: Scope) -> JSONObject {
        let now = context.now
        let (policyName, policy) = configuration.behaviour.era.policyClaim(context.policy)
        return JSONObject([
            ("iss", .string(configuration.issuer(of: context.policy))),
            ("exp", .integer(now + configuration.behaviour.lifetimes.token)),
            ("nbf", .integer(now)), ("aud", .string(audience)),
            ("sub", .string(client.id)), (policyName, .string(policy)),
            ("scp", .string(scope.names.joined(separator: " "))), ("azp", .string(client.id)), ("ver", "1.0"),
            ("iat", .integer(now)),
        ])
    }

    private func reply(_ token: String, _ audience: String) -> JSONValue {
        let lifetime = configuration.behaviour.lifetimes.token
        let era = context.responseEra
        return [
            "access_token": .string(token), "token_type": "Bearer",
            "not_before": era.number(context.now), "expires_in": era.number(lifetime),
            "expires_on": era.number(context.now + lifetime), "resource": .string(audience),
        ]
    }
}
