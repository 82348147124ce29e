import MockAuthority
import Settings

/// What the developer page shows of every kind of client, for the address under which it was opened.
///
/// Where https is served, clients are told of that, as the command client-settings does.
func shownClientSettings(
    _ settings: MockSettings, _ configuration: Configuration
) -> @Sendable (String) -> [ClientSettingsText] {
    let secure = settings.tls.listen.first.map { "https://localhost:\($0.port)" }
    let authorityFile = secure.flatMap { _ in settings.files.state.map { "\($0)/ca.pem" } }
    let tasks = settings.client.tasks
    return { base in
        let client = ClientSettings(
            configuration: configuration, base: secure ?? base, tasks: tasks, authorityFile: authorityFile)
        return ClientKind.allCases.map { ClientSettingsText(kind: $0.rawValue, text: client.text(for: $0)) }
    }
}
