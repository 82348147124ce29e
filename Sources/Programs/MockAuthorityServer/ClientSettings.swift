import MockAuthority
import Settings

/// The clients for which settings can be printed.
enum ClientKind: String, Sendable, CaseIterable {
    case iosADAL = "ios-adal"
    case iosNXOAuth2 = "ios-nxoauth2"
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

    private var authority: String { "\(base)/\(configuration.tenant.name)" }
    private var client: String { configuration.applications.clients.first?.id ?? "" }
    private var user: String { configuration.users.first?.email ?? "alice@example.com" }

    /// The policy of a kind, or the first one.
    private func policy(_ kind: Policy.Kind) -> String {
        let policies = configuration.policies
        let named =
            policies.first { $0.kind == kind } ?? policies.first { $0.kind == .signUpOrSignIn } ?? policies.first
        return named?.name ?? ""
    }

    /// The file or the lines of a client.
    func text(for kind: ClientKind) -> String {
        switch kind {
        case .iosADAL: PropertyList(adal).text
        case .iosNXOAuth2: PropertyList(nxoauth2).text
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
            ExternalIDSettings(tenant: $0, base: base, tasks: tasks, authorityFile: authorityFile)
        }
    }

    /// The members of the ADAL sample's settings.plist, in its order.
    private var adal: [(String, PropertyList.Value)] {
        [
            ("authority", .text("\(authority)/")), ("clientId", .text(client)), ("scopes", .texts([client])),
            ("additionalScopes", .texts([])), ("redirectUri", .text("urn:ietf:wg:oauth:2.0:oob")),
            ("userId", .text(user)), ("taskWebAPI", .text("\(tasks)/tasks")),
            ("emailSignUpPolicyId", .text(policy(.signUp))), ("faceBookSignInPolicyId", .text(policy(.facebook))),
            ("emailSignInPolicyId", .text(policy(.signIn))), ("fullScreen", .truth(false)),
            ("showClaims", .truth(true)),
        ]
    }

    /// The members of the NXOAuth2 sample's settings.plist, in its order and its spelling.
    private var nxoauth2: [(String, PropertyList.Value)] {
        let name = policy(.signIn)
        return [
            ("accountIdentifier", .text("B2C_Acccount")), ("clientID", .text(client)), ("clientSecret", .text("")),
            ("authURL", .text("\(authority)/\(MockAuthority.Path.authorize)?p=\(name)")),
            ("loginURL", .text("\(authority)/login")), ("bhh", .text("urn:ietf:wg:oauth:2.0:oob")),
            ("tokenURL", .text("\(authority)/\(MockAuthority.Path.token)?p=\(name)")),
            ("keychain", .text("com.microsoft.azureactivedirectory.samples.graph.QuickStart")),
            ("contentType", .text("application/x-www-form-urlencoded")), ("taskAPI", .text(tasks)),
            ("kIDMOAuth2SuccessPagePrefix", .text("session_state=")),
        ]
    }

    private var scope: String {
        configuration.applications.resources.first.flatMap { resource in
            resource.scopes.first.map { "\(resource.identifier)/\($0)" }
        } ?? client
    }

    private var msal: String {
        """
        # MSAL takes https only: start the mock with --tls-listen and --state, and trust its ca.pem.
        import msal
        app = msal.PublicClientApplication("\(client)", authority="\(authority)/\(policy(.signIn))")
        result = app.acquire_token_interactive(["\(scope)"])
        # then: requests.get("\(tasks)/api/tasks", headers={"Authorization": "Bearer " + result["access_token"]})
        """
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

/// A property list in XML, as the iOS samples read their settings.
struct PropertyList {
    enum Value {
        case text(String), texts([String]), truth(Bool)
    }

    private let members: [(String, Value)]

    init(_ members: [(String, Value)]) { self.members = members }

    var text: String {
        let lines = members.flatMap { name, value in ["\t<key>\(escaped(name))</key>"] + elements(value) }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \(lines.joined(separator: "\n"))
            </dict>
            </plist>
            """
    }

    private func elements(_ value: Value) -> [String] {
        switch value {
        case .text(let text): ["\t<string>\(escaped(text))</string>"]
        case .truth(let truth): [truth ? "\t<true/>" : "\t<false/>"]
        case .texts(let texts) where texts.isEmpty: ["\t<array/>"]
        case .texts(let texts): ["\t<array>"] + texts.map { "\t\t<string>\(escaped($0))</string>" } + ["\t</array>"]
        }
    }

    private func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
        return result
    }
}
