import Basics
import MockAuthority
import Platform
import Settings

/// Runs the command that the arguments name, or serves if there is none.
func runMockAuthority() -> Never {
    let signals = Signals()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--version") { answer("mock-authority \(programVersion)") }
    if arguments.contains("--help") || arguments.first == "help" { answer(helpText) }
    if arguments.first == "token" {
        // Commands may end anywhere.
        signals.release()
        runToken(Array(arguments.dropFirst()))
    }
    let (settings, command) = readSettings(arguments)
    guard let command else { serve(settings, until: signals) }
    signals.release()
    switch command {
    case .health: runHealth(settings)
    case .clientSettings: printClientSettings(settings)
    }
}

/// The commands that have the settings of the server.
enum SettingsCommand: String {
    case clientSettings = "client-settings"
    case health
}

private func printClientSettings(_ settings: MockSettings) -> Never {
    guard let kind = settings.client.kind else {
        let kinds = ClientKind.allCases.map(\.rawValue).joined(separator: ", ")
        fail(["client-settings needs --for, one of \(kinds)."], .badSettings)
    }
    let listen = settings.network.listen
    let shown = configuration(settings, listen).clientSettings("http://\(listen.called)")
    answer(shown.first { $0.kind == kind.rawValue }?.text ?? "")
}

/// Prints an answer and ends the program with success.
func answer(_ text: String) -> Never {
    StandardStream.output.print(text)
    exitProcess(.success)
}

/// Prints the problems, one a line, and ends the program.
func fail(_ messages: [String], _ status: ExitStatus) -> Never {
    for message in messages { StandardStream.error.print("mock-authority: \(message)") }
    exitProcess(status)
}

func readSettings(_ arguments: [String]) -> (settings: MockSettings, command: SettingsCommand?) {
    var environment = ProcessFacts.environment
    // The variable is for the command token and no setting; it may be set for all commands.
    environment["MOCK_AUTHORITY"] = nil
    if arguments.contains("client-settings") { environment.merge(settingsOfTheRun()) { given, _ in given } }
    let input = SettingInput(arguments: arguments, environment: environment)
    do throws(SettingMistakes) {
        let read = try MockSettings.read(input)
        let command = read.operands.first.flatMap(SettingsCommand.init)
        guard read.operands.count == (command == nil ? 0 : 1) else {
            let operands = read.operands.joined(separator: " ")
            fail(
                ["'\(operands)' is not a command. Commands: token, client-settings, health. See --help."],
                .badSettings)
        }
        if read.values.printSettings { answer(String(read.printed.dropLast())) }
        return (read.values, command)
    } catch {
        fail(error.messages, .badSettings)
    }
}

/// Returns the settings of the mock that `make run` has started in this folder; empty if none runs.
///
/// `scripts/run` writes the file, and removes it at its end.
private func settingsOfTheRun() -> [String: String] {
    guard let bytes = try? File.read("state/run.env") else { return [:] }
    let pairs = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2 && parts[0].hasPrefix(MockSettings.prefix) ? (parts[0], parts[1]) : nil
    }
    return Dictionary(pairs) { first, _ in first }
}

private var helpText: String {
    """
    mock-authority: a stand-in for Azure AD B2C, Entra External ID and Entra ID, for development only.

    Usage:
      mock-authority [settings]         serves
      mock-authority token --user NAME  prints one token of the running authority
    \(tokenHelp)
      mock-authority client-settings --for \(ClientKind.allCases.map(\.rawValue).joined(separator: "|")) [settings]
                      prints what makes that client talk to this authority and to task-server; in the folder
                      where `make run` runs, with its ports
      mock-authority health             asks the running authority of these settings whether it is alive

    Settings (flag, then variable, then default):
    \(MockSettings.helpText)
    """
}
