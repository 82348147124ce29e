import Basics
import MockAuthority

/// The settings with which a current MSAL signs people in at the External ID tenant of this authority.
///
/// docs/reproduced.md says what each library demands of the host (section "Clients").
struct ExternalIDSettings {
    let tenant: Configuration
    /// Scheme, host and port of the authority.
    let base: String
    /// Scheme, host and port of task-server.
    let tasks: String
    /// The certificate of the authority's https; `nil` where the base is http.
    let authorityFile: String?

    private var client: String { tenant.applications.clients.first?.id ?? "" }
    private var host: String { tenant.hostNames.first ?? "" }
    private var port: UInt16 { WebAddress(base)?.port ?? 443 }
    /// Host and port as URLs write them.
    private var hostAndPort: String { port == 443 ? host : "\(host):\(port)" }

    private var scopes: [String] {
        tenant.applications.resources.first.map { resource in
            resource.scopes.map { "\(resource.identifier)/\($0)" }
        } ?? []
    }

    private var quotedScopes: String { scopes.map { "\"\($0)\"" }.joined(separator: ", ") }

    /// The first registered redirect URI that begins like this.
    private func redirectURI(_ start: String) -> String {
        tenant.applications.clients.first?.redirectURIs.first { $0.hasPrefix(start) } ?? start
    }

    /// What every library needs of the machine.
    private func needs(_ comment: String) -> String {
        let trust =
            authorityFile.map { "trust \($0)" } ?? "start the mock with --tls-listen and --state, and trust its ca.pem"
        return
            "\(comment) MSAL takes https only: \(trust). In the hosts file: 127.0.0.1 \(tenant.hostNames.joined(separator: " "))"
    }

    var python: String {
        """
        \(needs("#"))
        import msal
        app = msal.PublicClientApplication("\(client)", authority="https://\(hostAndPort)/")
        # Without the hosts file: oidc_authority="https://localhost:\(port)/\(tenant.tenant.id)/v2.0" in place of authority.
        result = app.acquire_token_interactive([\(quotedScopes)])
        # then: requests.get("\(tasks)/api/tasks", headers={"Authorization": "Bearer " + result["access_token"]})
        """
    }

    /// MSAL.js knows External ID by the name of its host alone, so any port but 443 needs `knownAuthorities`.
    var javaScript: String {
        let id = tenant.tenant.id
        let authority = port == 443 ? "https://\(host)/" : "https://localhost:\(port)/\(id)"
        let known = port == 443 ? [host, "\(id).ciamlogin.com"] : ["localhost:\(port)", "\(id).ciamlogin.com"]
        return """
            \(needs("//"))
            const msalConfig = {
              auth: {
                clientId: "\(client)",
                authority: "\(authority)",
                knownAuthorities: [\(known.map { "\"\($0)\"" }.joined(separator: ", "))],
                redirectUri: "\(redirectURI("http"))",
              },
            };
            const request = { scopes: [\(quotedScopes)] };
            // then: fetch("\(tasks)/api/tasks", { headers: { Authorization: `Bearer ${result.accessToken}` } })
            """
    }

    /// `res/raw/auth_config.json` of an Android app: a file without comments.
    var android: String {
        """
        {
          "client_id": "\(client)",
          "authorization_user_agent": "DEFAULT",
          "redirect_uri": "\(redirectURI("msauth://"))",
          "account_mode": "SINGLE",
          "broker_redirect_uri_registered": false,
          "authorities": [
            { "type": "CIAM", "authority_url": "https://\(hostAndPort)/\(tenant.tenant.name)/", "default": true }
          ]
        }
        """
    }

    var iOS: String {
        """
        \(needs("//"))
        let authority = try MSALCIAMAuthority(url: URL(string: "https://\(hostAndPort)/")!)
        let configuration = MSALPublicClientApplicationConfig(
            clientId: "\(client)", redirectUri: "\(redirectURI("msauth.com"))", authority: authority)
        let scopes = [\(quotedScopes)]
        // then: GET \(tasks)/api/tasks with "Authorization: Bearer \\(result.accessToken)"
        """
    }
}
