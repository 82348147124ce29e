import Basics
import HTTP
import JSON
import OpenSSL

extension RequestContext {
    /// The discovery document of External ID and Entra; that of version 1 is for tokens of version 1.
    func entraMetadata(version: Int) -> Response {
        Response.json(entraDocument(version: version), headers: openForADay)
    }

    /// The key set (RFC 7517 section 5), with the members of the service.
    func entraKeySet(version: Int) async -> Response {
        await Response.json(headers: openForADay) { () throws(PrivateKeyError) in try await entraKeys(version: version)
        }
    }

    private var openForADay: FieldLines {
        [
            "Cache-Control": "max-age=86400, private", "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, OPTIONS",
        ]
    }

    /// Each key with the issuer of the tokens that it signs: of `common`, a template, and the tenant of persons.
    private func entraKeys(version: Int) async throws(PrivateKeyError) -> JSONValue {
        let segment = EntraSegment(rawValue: url.tenant)
        var rings = segment == .consumers ? [] : [(authority.keys, namedTenant)]
        if segment == .common || segment == .consumers, let personal = authority.personalKeys {
            rings.append((personal, Configuration.personalTenant))
        }
        var shown: [JSONValue] = []
        for (ring, tenant) in rings {
            let issuer = version == 1 ? nil : configuration.entraIssuer(at: base, tenant: tenant)
            for key in try await ring.current().published {
                shown.append(try key.entraKey(ring.naming.subject, issuer: issuer))
            }
        }
        return ["keys": .array(shown)]
    }

    /// The id of the tenant in issuers; of `common` and `organizations`, a template.
    private var namedTenant: String {
        switch EntraSegment(rawValue: url.tenant) {
        case nil: configuration.tenant.id
        case .common, .organizations: "{tenantid}"
        case .consumers: Configuration.personalTenant
        }
    }

    private func issuer(version: Int) -> String {
        version == 1
            ? "https://sts.windows.net/\(namedTenant)/" : configuration.entraIssuer(at: base, tenant: namedTenant)
    }

    /// The members of the service and no others, in its order (P-37; docs/reproduced.md, "Metadata").
    private func entraDocument(version: Int) -> JSONValue {
        [
            "token_endpoint": address(of: Routes.token),
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "jwks_uri": address(of: version == 1 ? Routes.keysOfVersionOne : Routes.entraKeys),
            "response_modes_supported": ["query", "fragment", "form_post"],
            "subject_types_supported": ["pairwise"], "id_token_signing_alg_values_supported": ["RS256"],
            "response_types_supported": ["code", "id_token", "code id_token", "id_token token"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "issuer": .string(issuer(version: version)), "request_uri_parameter_supported": false,
            "userinfo_endpoint": "https://graph.microsoft.com/oidc/userinfo",
            "authorization_endpoint": address(of: Routes.authorize),
            "device_authorization_endpoint": address(of: Routes.deviceCode), "http_logout_supported": true,
            "frontchannel_logout_supported": true, "end_session_endpoint": address(of: Routes.logout),
            "claims_supported": Self.shownClaims, "kerberos_endpoint": .string("\(base)/\(url.tenant)/kerberos"),
            "tenant_region_scope": EntraSegment(rawValue: url.tenant) == nil ? "NA" : .null,
            "cloud_instance_name": .string(TokenSigningKey.cloud), "cloud_graph_host_name": "graph.windows.net",
            "msgraph_host": "graph.microsoft.com", "rbac_url": "https://pas.windows.net",
        ]
    }

    private static let shownClaims: JSONValue = [
        "sub", "iss", "cloud_instance_name", "cloud_instance_host_name", "cloud_graph_host_name", "msgraph_host", "aud",
        "exp", "iat", "auth_time", "acr", "nonce", "preferred_username", "name", "tid", "ver", "at_hash", "c_hash",
        "email",
    ]
}

extension TokenSigningKey {
    /// `cloud_instance_name` of the public cloud.
    static let cloud = "microsoftonline.com"

    /// The members of the service, in its order: no `alg`, no `nbf`; in sets of version 1 no `issuer`.
    ///
    /// `x5t` is the hash of the certificate in `x5c`, and so is `kid` (``KeyNaming``).
    fileprivate func entraKey(_ subject: String, issuer: String?) throws(PrivateKeyError) -> JSONValue {
        let certificate = try CertificateMaker(now: notBefore).tokenSigning(privateKey, name: subject)
        let numbers = publicKey.object ?? JSONObject()
        var members = JSONObject([
            ("kty", "RSA"), ("use", "sig"), ("kid", .string(identifier)), ("x5t", .string(identifier)),
        ])
        members["n"] = numbers["n"]
        members["e"] = numbers["e"]
        members["x5c"] = [.string(Base64.encode(certificate))]
        members["cloud_instance_name"] = .string(Self.cloud)
        members["issuer"] = issuer.map { .string($0) }
        return .object(members)
    }
}
