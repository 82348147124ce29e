import HTTP
import JSON

extension RequestContext {
    /// The discovery document of a strict provider (OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2).
    var strictDocument: JSONValue {
        let scopes = StandardClaims.ofScopes
        let claims = ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr"] + scopes.flatMap(\.names)
        let password: [JSONValue] = policy.allowsPasswordGrant ? ["password"] : []
        return [
            "issuer": .string(configuration.issuer(of: policy)),
            "authorization_endpoint": address(of: Routes.authorize), "token_endpoint": address(of: Routes.token),
            "userinfo_endpoint": address(of: Routes.userInfo), "end_session_endpoint": address(of: Routes.logout),
            "jwks_uri": address(of: Routes.keys),
            "scopes_supported": .array(
                ["openid", "offline_access"] + scopes.map { .string($0.scope) }),
            "response_types_supported": [
                "code", "code id_token", "code token", "code id_token token", "id_token", "id_token token",
            ],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "grant_types_supported": .array(
                ["authorization_code", "implicit", "refresh_token", "client_credentials"] + password),
            "acr_values_supported": [.string(StrictClaims.context)], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
            "display_values_supported": ["page", "popup"],
            "prompt_values_supported": ["none", "login", "consent", "select_account"],
            "claim_types_supported": ["normal"], "claims_supported": .array(claims.map { .string($0) }),
            "claims_parameter_supported": true, "request_parameter_supported": false,
            "request_uri_parameter_supported": false, "code_challenge_methods_supported": ["S256", "plain"],
        ]
    }
}
