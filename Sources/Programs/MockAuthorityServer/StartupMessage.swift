import Basics
import MockAuthority
import Settings

/// The text that is printed when the servers listen; its commands work when pasted.
struct StartupMessage {
    let configuration: Configuration
    let base: String
    /// The origins of https, and the certificate that signed theirs.
    let secure: [String]
    let authorityFile: String?

    var text: String {
        """
        mock-authority \(programVersion) listens on \(base)
        For development only: everyone who reaches it can get a token of any user.

        \(Self.lines(commands))\(secure.map(text).joined())
        """
    }

    private var commands: [String] {
        let user = configuration.users.first?.email ?? "alice@example.com"
        let token = "curl -s '\(base)\(MockAuthority.Path.testToken)?user=\(user)"
        let external = configuration.externalTenant == nil ? [] : ["\(token)&profile=external-id'"]
        return settings + ["\(token)'"] + external + [
            "\(token)' | task-server explain-token", "curl -s \(base)\(MockAuthority.Path.badTokens)",
        ]
    }

    /// The settings with which clients and task-server find the authority, behind a proxy under its public address.
    private var settings: [String] {
        let client = configuration.applications.clients.first?.id ?? ""
        guard configuration.profile == .b2c else {
            let issuer = configuration.policies.first.map(configuration.issuer) ?? ""
            let audience = configuration.applications.resources.first?.audience ?? client
            return [
                "export TASKS_METADATA_URL=\(issuer)/.well-known/openid-configuration TASKS_OWNER_CLAIM=sub "
                    + "TASKS_CLIENT_ID=\(audience)"
            ]
        }
        let policies = configuration.policies.map(\.name).joined(separator: ",")
        let authority = "\(configuration.publicOrigin ?? base)/\(configuration.tenant.name)"
        return [
            "export B2C_AUTHORITY=\(authority)",
            "export TASKS_AUTHORITY=\(authority) TASKS_POLICIES=\(policies) TASKS_CLIENT_ID=\(client)",
        ]
    }

    private func text(_ origin: String) -> String {
        let file = authorityFile ?? ""
        let authority = "\(origin)/\(configuration.tenant.name)"
        let settings =
            configuration.profile == .b2c && configuration.publicOrigin == nil
            ? ["export B2C_AUTHORITY=\(authority)", "export TASKS_AUTHORITY=\(authority) TASKS_CA_FILE=\(file)"]
            : ["export TASKS_CA_FILE=\(file)"]
        let trust =
            "export REQUESTS_CA_BUNDLE=\(file) SSL_CERT_FILE=\(file) CURL_CA_BUNDLE=\(file) NODE_EXTRA_CA_CERTS=\(file)"
        return """


            and on \(origin), with a certificate that these trust:

            \(Self.lines(settings + [trust]))
            """
    }

    /// The commands, each indented on a line of its own.
    private static func lines(_ commands: [String]) -> String {
        commands.map { "  \($0)" }.joined(separator: "\n")
    }
}
