internal import MockAuthority
internal import Settings

/// What the start prints: lines that work when pasted.
struct Greeting {
    let configuration: Configuration
    let address: ListenAddress

    private var base: String {
        ["0.0.0.0", "::"].contains(address.host) ? "http://localhost:\(address.port)" : "http://\(address)"
    }

    private var authority: String { "\(base)/\(configuration.tenant.name)" }

    /// All of it.
    var text: String {
        let policies = configuration.policies.map(\.name).joined(separator: ",")
        let client = configuration.applications.clients.first?.id ?? ""
        let user = configuration.users.first?.email ?? "alice@example.com"
        return """
            mock-authority \(programVersion) listens on \(base)
            For development only: whoever reaches it gets a token of anybody.

              export B2C_AUTHORITY=\(authority)
              export TASKS_AUTHORITY=\(authority) TASKS_POLICIES=\(policies) TASKS_CLIENT_ID=\(client)
              curl -s '\(base)/_mock/token?user=\(user)'
              curl -s \(base)/_mock/token/bad
            """
    }
}
