import HTTP
import JSON
import OpenSSL

extension RequestContext {
    var metadata: Response {
        Response.json(configuration.profile == .strict ? strictDocument : metadataDocument, headers: openToAll)
    }

    /// The key set (RFC 7517 section 5).
    func keySet() async -> Response {
        await Response.json(headers: openToAll) { () throws(PrivateKeyError) in
            try await authority.keys.current().keySet
        }
    }

    /// The fields of public documents, which a page of any origin may read.
    private var openToAll: FieldLines { ["Access-Control-Allow-Origin": "*", "Cache-Control": "private"] }

    /// The members of the service and no others, in its order (docs/reproduced.md, "Metadata").
    private var metadataDocument: JSONValue {
        [
            "issuer": .string(configuration.issuer(of: policy)),
            "authorization_endpoint": address(of: Routes.authorize), "token_endpoint": address(of: Routes.token),
            "end_session_endpoint": address(of: Routes.logout), "jwks_uri": address(of: Routes.keys),
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

    func address(of route: AuthorityRoute<RequestContext>) -> JSONValue {
        .string(url.url(of: route, policy: policy, base: base))
    }
}
