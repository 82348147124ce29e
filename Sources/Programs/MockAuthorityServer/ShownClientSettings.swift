import MockAuthority
import Settings

/// Returns the settings of every kind of client, for the command client-settings and the developer page.
///
/// The page shows them for the address under which it was opened. They name https if it is served: new clients insist
/// on it.
func shownClientSettings(
    _ settings: MockSettings, _ configuration: Configuration, _ securePort: UInt16?
) -> @Sendable (String) -> [ClientSettingsText] {
    let secure = securePort.map { "https://localhost:\($0)" }
    let authorityFile = secure.flatMap { _ in settings.files.state.map { "\($0)/ca.pem" } }
    let tasks = settings.client.tasks
    return { base in
        let client = ClientSettings(
            configuration: configuration, base: secure ?? base, tasks: tasks, authorityFile: authorityFile)
        return ClientKind.allCases.map { ClientSettingsText(kind: $0.rawValue, text: client.text(for: $0)) }
    }
}
