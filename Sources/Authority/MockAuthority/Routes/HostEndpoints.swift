import Basics
import HTTP
import JSON

/// Endpoints that belong to no policy (docs/reproduced.md, "UserInfo and instance discovery").
extension HostContext {
    /// For people: in a browser a page that leads to the developer page, else a list of URLs.
    ///
    /// It says nothing of a run, since it answers every machine.
    var welcome: Response {
        guard head.headers["Accept"]?.contains("text/html") == true else { return welcomeText }
        let content: HTML = """
            <p>A stand-in for Azure AD B2C, Entra External ID and Entra ID, for development only.</p>
            <p class="aside"><a href="/\(Routes.developerPage.path)">Users, tokens, requests, keys and faults</a></p>
            """
        return Page(title: configuration.tenant.name, content: content).response
    }

    private var welcomeText: Response {
        let documents = mock.tenants.map(\.configuration).flatMap { tenant in
            tenant.policies.map { "  \(tenant.metadataAddress(of: $0, at: base))" }
        }
        return Response.text(
            """
            mock-authority: a stand-in for Azure AD B2C, Entra External ID and Entra ID, for development only.

            Metadata of its policies and tenants (a token: profile=external-id, profile=entra):
            \(documents.joined(separator: "\n"))

            In a browser:    \(base)/\(Routes.developerPage.path)
            A token:         curl -s '\(base)/\(Routes.testToken.path)?user=alice'
            Bad tokens:      curl -s \(base)/\(Routes.badTokens.path)
            Another key:     curl -s -d '{"do":"rotate"}' \(base)/\(Routes.keyControl.path)
            """)
    }

    /// Asked by MSAL before a password grant: nobody's sign-in is federated.
    var userRealm: Response {
        let name = head.target.path.last ?? ""
        let domain = String(name.drop { $0 != "@" }.dropFirst())
        return Response.json(.document("userRealm", ["{domain}": .string(domain)]))
    }

    /// Requested by MSAL where the hosts file names the mock login.microsoftonline.com.
    ///
    /// MSAL asks about an authority, and trusts the host of the authority only if the service knows the host.
    var instanceDiscovery: Response {
        let headers: FieldLines = ["Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, OPTIONS"]
        let asked = head.target["authorization_endpoint"] ?? "\(EntraHost.loginBase)/\(configuration.tenant.name)"
        guard let authority = WebAddress(asked), EntraHost.login.contains(authority.host),
            let tenant = authority.path.first
        else {
            let error = Refusal(.unknownInstance).entra.json(
                correlation: RequestContext.correlation(of: head), now: self.authority.now(in: run))
            return Response.json(error, status: 400, headers: headers)
        }
        let document = "\(authority.text.originAndPath.origin)/\(tenant)/\(Routes.metadata.path)"
        let values: JSONObject = [
            "{document}": .string(document), "{aliases}": .array(EntraHost.login.map { .string($0) }),
        ]
        return Response.json(.document("instance", values), headers: headers)
    }
}
