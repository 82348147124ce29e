import Platform
import Settings

/// How the program ends (sysexits.h).
enum ExitCode: Int32 {
    case ok = 0
    /// Something is wrong outside of the settings: a database, a port, an authority.
    case failure = 1
    /// The settings or the command line are wrong (EX_CONFIG).
    case badSettings = 78
}

/// The whole program: reads the settings, does what the command line asks for, and ends.
func runTaskServer() -> Never {
    let signals = Signals()
    let arguments = Array(CommandLine.arguments.dropFirst())
    // Help is for those whose settings are wrong, too.
    if arguments.contains("--help") || arguments.contains("-h") { answer(HelpText.whole) }
    if arguments.contains("--version") { answer("task-server \(programVersion)") }
    let input = SettingInput(arguments: arguments, environment: ProcessFacts.environment, file: readSettingFile)
    do throws(SettingMistakes) {
        let read = try ServerSettings.read(input)
        if read.values.command.printSettings { answer(String(read.printed.dropLast())) }
        exitProcess(run(read, signals).rawValue)
    } catch {
        for sentence in error.sentences { StandardStream.error.print("task-server: \(sentence)") }
        StandardStream.error.print("task-server: --help explains every setting.")
        exitProcess(ExitCode.badSettings.rawValue)
    }
}

/// The version of this program.
let programVersion = "0.1.0"

private func answer(_ text: String) -> Never {
    StandardStream.output.print(text)
    exitProcess(ExitCode.ok.rawValue)
}

private func run(_ read: ReadSettings<ServerSettings>, _ signals: Signals) -> ExitCode {
    let command: Command
    do throws(CommandMistake) {
        command = try Command(read.operands)
    } catch {
        return .badSettings  // Seen before: the table checks the command, too.
    }
    switch command {
    case .serve: return .failure
    case .check: return .failure
    case .explainToken: return .failure
    case .backup: return .failure
    case .export: return .failure
    case .import: return .failure
    }
}

private func readSettingFile(_ path: String) -> Result<String, SettingFileFailure> {
    do throws(SystemError) {
        return .success(String(decoding: try File.read(path, limit: 1 << 16), as: UTF8.self))
    } catch {
        return .failure(SettingFileFailure(reason: error.reason))
    }
}
