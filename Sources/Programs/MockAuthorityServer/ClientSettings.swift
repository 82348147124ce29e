import MockAuthority
import Settings

/// The clients for which settings can be printed.
enum ClientKind: String, Sendable, CaseIterable {
    case iosADAL = "ios-adal"
    case iosNXOAuth2 = "ios-nxoauth2"
    case android, wpf, mvc
    case msal, page, curl
    case msalExternalID = "msal-external-id"
    case msalExternalIDJavaScript = "msal-external-id-js"
    case msalExternalIDAndroid = "msal-external-id-android"
    case msalExternalIDiOS = "msal-external-id-ios"
}

/// The settings with which a client talks to this authority and to a task-server.
struct ClientSettings {
    let configuration: Configuration
    /// Scheme, host and port of the authority.
    let base: String
    /// Scheme, host and port of task-server.
    let tasks: String
    /// The certificate of the authority's https; `nil` where the base is http.
    let authorityFile: String?

    /// Scheme, host and port of the authority by https, for clients that take no other; an example where it serves none.
    var secureBase: String { base.hasPrefix("https:") ? base : "https://localhost:8443" }

    private var authority: String { "\(base)/\(configuration.tenant.name)" }
    var client: String { configuration.applications.clients.first?.id ?? "" }
    private var user: String { configuration.users.first?.email ?? "alice@example.com" }

    /// The policy of a kind, or the first one.
    func policy(_ kind: Policy.Kind) -> String {
        let policies = configuration.policies
        let named =
            policies.first { $0.kind == kind } ?? policies.first { $0.kind == .signUpOrSignIn } ?? policies.first
        return named?.name ?? ""
    }

    /// The file or the lines of a client.
    func text(for kind: ClientKind) -> String {
        switch kind {
        case .iosADAL: PropertyList(adal, comment: Self.commentOfADAL).text
        case .iosNXOAuth2: PropertyList(nxoauth2, comment: Self.commentOfNXOAuth2).text
        case .android: android
        case .wpf: wpf
        case .mvc: mvc
        case .msal: msal
        case .page: page
        case .curl: curl
        case .msalExternalID: external?.python ?? ""
        case .msalExternalIDJavaScript: external?.javaScript ?? ""
        case .msalExternalIDAndroid: external?.android ?? ""
        case .msalExternalIDiOS: external?.iOS ?? ""
        }
    }

    private var external: ExternalIDSettings? {
        configuration.externalTenant.map {
            ExternalIDSettings(tenant: $0, base: secureBase, tasks: tasks, authorityFile: authorityFile)
        }
    }

    private var scope: String {
        configuration.applications.resources.first.flatMap { resource in
            resource.scopes.first.map { "\(resource.identifier)/\($0)" }
        } ?? client
    }

    private var msal: String {
        """
        # MSAL takes https only: \(trust)
        import msal
        app = msal.PublicClientApplication("\(client)", authority="\(secureBase)/\(configuration.tenant.name)/\(policy(.signIn))")
        result = app.acquire_token_interactive(["\(scope)"])
        # then: requests.get("\(tasks)/api/tasks", headers={"Authorization": "Bearer " + result["access_token"]})
        """
    }

    private var trust: String {
        let file = authorityFile ?? "state/mock/ca.pem"
        let start = authorityFile == nil ? "start with MOCK_TLS_LISTEN=127.0.0.1:8443 make run, and " : ""
        return "\(start)trust \(file) (REQUESTS_CA_BUNDLE=\(file))."
    }

    private var page: String {
        let policies = configuration.policies.map(\.name).joined(separator: ",")
        let trust = authorityFile.map { "TASKS_CA_FILE=\($0)\n" } ?? ""
        return """
            \(trust)TASKS_AUTHORITY=\(authority)
            TASKS_POLICIES=\(policies)
            TASKS_CLIENT_ID=\(client)
            """
    }

    private var curl: String {
        """
        TOKEN=$(curl -s '\(base)\(MockAuthority.Path.testToken)?user=\(user)')
        curl -s -H "Authorization: Bearer $TOKEN" \(tasks)/api/tasks
        """
    }
}
