import Basics
import Curl
import MockAuthority
import Platform
import Settings

/// Runs the command that the arguments name, or serves if there is none.
func runMockAuthority() -> Never {
    do throws(OperatorError) {
        answer(try run(ProcessFacts.arguments(of: "mock-authority")))
    } catch {
        fail(error)
    }
}

private func run(_ arguments: [String]) throws(OperatorError) -> String {
    let signals = Signals()
    if arguments.first == "probe" { try runProbe(Array(arguments.dropFirst()), signals) }
    if arguments.contains("--version") { return "mock-authority \(programVersion)" }
    if arguments.contains("--help") || arguments.first == "help" { return help(arguments) }
    if arguments.first == "token" {
        // Commands may end anywhere.
        signals.release()
        try runToken(Array(arguments.dropFirst()))
    }
    let (settings, command) = try readSettings(arguments)
    guard let command else {
        try serve(settings, until: signals)
        exitProcess(.success)
    }
    signals.release()
    return switch command {
    case .health: try health(settings)
    case .clientSettings: try clientSettings(settings)
    }
}

enum SettingsCommand: String {
    case clientSettings = "client-settings"
    case health
}

private func clientSettings(_ settings: MockSettings) throws(OperatorError) -> String {
    guard let kind = settings.clientKind else {
        let kinds = ClientKind.allCases.map(\.rawValue).joined(separator: ", ")
        throw OperatorError("client-settings needs --for, one of \(kinds).", .badSettings)
    }
    let listen = settings.network.listen
    let shown = try configuration(settings, listen).clientSettings("http://\(listen.called)")
    guard let client = shown.first(where: { $0.kind == kind.rawValue }) else {
        throw OperatorError(
            "\(kind.rawValue) is a client of Microsoft's services, which --persona strict does not play.", .badSettings)
    }
    return client.text
}

func answer(_ text: String) -> Never {
    StandardStream.output.print(text)
    exitProcess(.success)
}

func fail(_ error: OperatorError) -> Never {
    StandardStream.error.print("mock-authority: \(error.message)")
    exitProcess(error.exitStatus)
}

func readSettings(_ arguments: [String]) throws(OperatorError) -> (settings: MockSettings, command: SettingsCommand?) {
    var environment = ProcessFacts.environment
    // The variable is for the command token and no setting; it may be set for all commands.
    environment["MOCK_AUTHORITY"] = nil
    if arguments.contains("client-settings") { environment.merge(settingsOfTheRun()) { given, _ in given } }
    let input = SettingInput(arguments: arguments, environment: environment)
    // Each mistake is a line.
    let read = try rethrowing(as: { OperatorError($0.messages.joined(separator: "\nmock-authority: "), .badSettings) })
    {
        () throws(SettingMistakes) in try MockSettings.read(input)
    }
    for warning in read.warnings { StandardStream.error.print("mock-authority: \(warning)") }
    let command = read.operands.first.flatMap(SettingsCommand.init)
    guard read.operands.count == (command == nil ? 0 : 1) else {
        let operands = read.operands.joined(separator: " ")
        let names = commandHelp.map(\.name)
        let hint = suggestion(for: operands, among: names).map { "Did you mean \($0)?" }
        let advice = hint ?? "Commands: \(names.joined(separator: ", ")). See --help."
        throw OperatorError("'\(operands)' is not a command. \(advice)", .badSettings)
    }
    if read.values.printSettings { answer(String(read.printed.dropLast())) }
    return (read.values, command)
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

/// The address of a running mock for those who name none: from MOCK_AUTHORITY, from `make run` here, or the default.
func runningAuthority() -> String {
    ProcessFacts.environment["MOCK_AUTHORITY"] ?? "http://\(settingsOfTheRun()["MOCK_LISTEN"] ?? "127.0.0.1:3001")"
}

/// The commands of commands.txt, each with its help.
let commandHelp = String(decoding: PackageResources.commands_txt.dropLast(), as: UTF8.self)
    .split(separator: "\n\n").map { command in
        let text = command.replacing("@kinds@", with: ClientKind.allCases.map(\.rawValue).joined(separator: "|"))
            .replacing("@badTokens@", with: MockAuthority.Path.badTokens)
        return (name: text.split(separator: " ").dropFirst().first.map(String.init) ?? "", text: text)
    }

/// The help of the command that the arguments name, or of the whole program.
private func help(_ arguments: [String]) -> String {
    if let named = commandHelp.first(where: { arguments.contains($0.name) }) {
        return "Usage:\n\(named.text)\n\nmock-authority --help lists the settings."
    }
    return """
        mock-authority stands in for Azure AD B2C, Entra External ID and Entra ID. It is for development only.

        Usage:
          mock-authority [settings]         serves
        \(commandHelp.map(\.text).joined(separator: "\n"))

        Settings (flag, then variable, then default):
        \(MockSettings.helpText)
        """
}

/// Runs `mock-authority health`, which asks the authority that runs with the same settings.
///
/// A container's health check then needs no other program.
func health(_ settings: MockSettings) throws(OperatorError) -> String {
    let address = settings.network.listen.seenFromHere
    let reply = try rethrowing(as: { OperatorError("\(address): \($0.message)") }) { () throws(FetchError) in
        // This resource always exists, and reading it changes nothing.
        try HTTPFetcher.askOwnServer("http://\(address)\(MockAuthority.Path.badTokens)")
    }
    guard reply.status == 200 else { throw OperatorError("\(address) answers \(reply.status)") }
    return "alive"
}
