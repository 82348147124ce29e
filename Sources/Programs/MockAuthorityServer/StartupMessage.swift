import Basics
import MockAuthority
import Settings

/// The text that is printed when the servers listen; its commands work when pasted.
struct StartupMessage {
    let configuration: Configuration
    let address: ListenAddress
    let secure: [Secure]

    struct Secure {
        let port: UInt16
        /// The path of the certificate that clients must trust.
        let authorityFile: String
    }

    private var base: String { "http://\(address.called)" }

    var text: String {
        let policies = configuration.policies.map(\.name).joined(separator: ",")
        let client = configuration.applications.clients.first?.id ?? ""
        let user = configuration.users.first?.email ?? "alice@example.com"
        let authority = "\(base)/\(configuration.tenant.name)"
        return """
            mock-authority \(programVersion) listens on \(base)
            For development only: everyone who reaches it can get a token of any user.

              export B2C_AUTHORITY=\(authority)
              export TASKS_AUTHORITY=\(authority) TASKS_POLICIES=\(policies) TASKS_CLIENT_ID=\(client)
              curl -s '\(base)\(MockAuthority.Path.testToken)?user=\(user)'
              curl -s '\(base)\(MockAuthority.Path.testToken)?user=\(user)&profile=external-id'
              curl -s '\(base)\(MockAuthority.Path.testToken)?user=\(user)' | task-server explain-token
              curl -s \(base)\(MockAuthority.Path.badTokens)\(secure.map(lines).joined())
            """
    }

    private func lines(_ secure: Secure) -> String {
        let file = secure.authorityFile
        let port = secure.port
        return """


            and on https://localhost:\(port), with a certificate that these trust:

              export B2C_AUTHORITY=https://localhost:\(port)/\(configuration.tenant.name)
              export TASKS_AUTHORITY=https://localhost:\(port)/\(configuration.tenant.name) TASKS_CA_FILE=\(file)
              export REQUESTS_CA_BUNDLE=\(file) SSL_CERT_FILE=\(file) CURL_CA_BUNDLE=\(file) NODE_EXTRA_CA_CERTS=\(file)
            """
    }
}
