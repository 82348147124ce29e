internal import JSON

/// The discovery document (OpenID Connect Discovery 1.0 section 3), with the members of the service and no others.
struct Metadata: Sendable {
    let configuration: Configuration
    let policy: Policy
    let address: PolicyURL
    /// Scheme and host of the request.
    let base: String

    /// The document, in the order of the service.
    var json: JSONValue {
        [
            "issuer": .string(configuration.issuer(of: policy)),
            "authorization_endpoint": url("oauth2/v2.0/authorize"), "token_endpoint": url("oauth2/v2.0/token"),
            "end_session_endpoint": url("oauth2/v2.0/logout"), "jwks_uri": url("discovery/v2.0/keys"),
            "response_modes_supported": ["query", "fragment", "form_post"],
            "response_types_supported": [
                "code", "code id_token", "code token", "code id_token token", "id_token", "id_token token", "token",
                "token id_token",
            ],
            "scopes_supported": ["openid"], "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "claims_supported": [
                "name", "given_name", "family_name", "emails", "idp", "oid", "sub", "tfp", "iss", "iat", "exp", "aud",
                "acr", "nonce", "auth_time",
            ],
        ]
    }

    private func url(_ path: String) -> JSONValue {
        .string(address.url(path, policy: policy, base: base))
    }
}
