import MockAuthority
import Settings

/// What the command client-settings and the developer page show of every kind of client, the page for the address under
/// which it was opened.
///
/// Current clients insist on https; where it is served, their settings name it.
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
