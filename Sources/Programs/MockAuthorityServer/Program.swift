internal import Platform
internal import Settings

/// The version of this program.
let programVersion = "0.1.0"

/// What the exit codes of this program mean (sysexits.h).
enum ExitCode {
    static let good: Int32 = 0
    static let failure: Int32 = 1
    /// EX_UNAVAILABLE: the address cannot be listened on, or nobody answers there.
    static let unavailable: Int32 = 69
    /// EX_CONFIG: settings or files that are wrong.
    static let configuration: Int32 = 78
}

/// Runs the command that the arguments name; without one, serves.
func runMockAuthority() -> Never {
    let signals = Signals()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--version") { answer("mock-authority \(programVersion)") }
    if arguments.contains("--help") || arguments.first == "help" { answer(helpText) }
    if arguments.first == "token" { runToken(Array(arguments.dropFirst())) }
    let settings = readSettings(arguments)
    serve(settings, until: signals)
}

/// Prints an answer and ends well.
func answer(_ text: String) -> Never {
    StandardStream.output.print(text)
    exitProcess(ExitCode.good)
}

/// Says what is wrong, one line each, and ends.
func fail(_ sentences: [String], _ code: Int32) -> Never {
    for sentence in sentences { StandardStream.error.print("mock-authority: \(sentence)") }
    exitProcess(code)
}

private func readSettings(_ arguments: [String]) -> MockSettings {
    let input = SettingInput(arguments: arguments, environment: ProcessFacts.environment)
    do throws(SettingMistakes) {
        let read = try MockSettings.read(input)
        if let operand = read.operands.first {
            fail(["'\(operand)' is no command. Commands: token. See --help."], ExitCode.configuration)
        }
        if read.values.printSettings { answer(String(read.printed.dropLast())) }
        return read.values
    } catch {
        fail(error.sentences, ExitCode.configuration)
    }
}

private var helpText: String {
    """
    mock-authority: a stand-in for Azure AD B2C, for development only.

    Usage:
      mock-authority [settings]         serves
      mock-authority token --user NAME  prints one token of the authority that runs
    \(tokenHelp)

    Settings (flag, then variable, then default):
    \(MockSettings.helpText)
    """
}
