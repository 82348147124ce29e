internal import HTTP
internal import JSON

/// What client libraries and browsers ask beside the endpoints of a policy.
struct SideEndpoints: Sendable {
    let configuration: Configuration
    let base: String

    /// The answer, if this is one of those requests.
    func respond(to head: RequestHead) -> Response? {
        switch head.target.path.map({ $0.lowercased() }) {
        case []: welcome
        case ["favicon.ico"]: Response(204)
        case ["common", "discovery", "instance"]: Response.json(instanceDiscovery)
        // Whether the user's realm is federated: MSAL takes a 404 for "no", and goes on with the password grant.
        case let path where path.first == "common": Response.text("Not found.", status: 404)
        default: nil
        }
    }

    private var welcome: Response {
        let policies = configuration.policies.map { policy in
            "  \(base)/\(configuration.tenant.name)/\(policy.name.lowercased())/v2.0/.well-known/openid-configuration"
        }
        return Response.text(
            """
            mock-authority: a stand-in for Azure AD B2C, for development only.

            Metadata of its policies:
            \(policies.joined(separator: "\n"))

            A token:         curl -s '\(base)/_mock/token?user=alice'
            Bad tokens:      curl -s \(base)/_mock/token/bad
            Another key:     curl -s -d '{"do":"rotate"}' \(base)/_mock/keys
            """)
    }

    /// Asked by MSAL when a host is called login.microsoftonline.com (by the hosts file).
    private var instanceDiscovery: JSONValue {
        let tenant = configuration.tenant.name
        return [
            "tenant_discovery_endpoint":
                .string("https://login.microsoftonline.com/\(tenant)/v2.0/.well-known/openid-configuration"),
            "api-version": "1.1",
            "metadata": [
                [
                    "preferred_network": "login.microsoftonline.com", "preferred_cache": "login.windows.net",
                    "aliases": ["login.microsoftonline.com"],
                ]
            ],
        ]
    }
}
