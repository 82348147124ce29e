import Basics
import Platform
import Settings

/// The whole program: reads the settings, does what the command line asks for, and ends.
func runTaskServer() -> Never {
    let signals = Signals()
    let arguments = ProcessFacts.arguments(of: "task-server")
    // Help is for those whose settings are wrong, too.
    if arguments.contains("--help") || arguments.contains("-h") {
        answer(CommandHelp.forCommand(in: arguments) ?? CommandHelp.whole)
    }
    if arguments.contains("--version") { answer("task-server \(programVersion)") }
    let input = SettingInput(arguments: arguments, environment: ProcessFacts.environment, file: readSettingFile)
    do throws(SettingMistakes) {
        let read = try ServerSettings.read(input)
        if read.values.command.printSettings { answer(String(read.printed.dropLast())) }
        exitProcess(run(read, input, signals))
    } catch {
        for message in error.messages { StandardStream.error.print("task-server: \(message)") }
        StandardStream.error.print("task-server: --help explains every setting.")
        exitProcess(.badSettings)
    }
}

private func answer(_ text: String) -> Never {
    StandardStream.output.print(text)
    exitProcess(.success)
}

private func run(
    _ read: ReadSettings<ServerSettings>, _ input: SettingInput, _ signals: Signals
) -> ExitStatus {
    let settings = read.values
    do throws(OperatorError) {
        let command = try Command(read.operands)
        if !command.heedsSignals { signals.release() }
        switch command {
        case .serve: return try serve(read, input, signals)
        case .export(let target): return try export(settings, to: target, signals)
        case .import(let source): return try importLines(settings.storage, from: source, signals)
        case .check: return check(settings)
        case .health(let question): return try health(settings, question)
        case .explainToken: return try explainToken(settings)
        case .backup(let target): return try backup(settings.storage, to: target)
        case .restore(let copy): return try restore(settings.storage, from: copy)
        case .migrate: return try migrate(settings.storage, distributing: settings.command.distributes)
        case .moveOwners(let map): return try moveOwners(settings, by: map, signals)
        case .deleteOwner(let name): return try deleteOwner(settings, name)
        }
    } catch {
        StandardStream.error.print("task-server: \(error.message)")
        return error.exitStatus
    }
}

private func serve(
    _ read: ReadSettings<ServerSettings>, _ input: SettingInput, _ signals: Signals
) throws(OperatorError) -> ExitStatus {
    let manager = ServiceManager(environment: input.environment)
    if !manager.sockets.isEmpty, read.isGiven("TASKS_LISTEN") {
        throw OperatorError(
            "TASKS_LISTEN is set, and the service manager passed sockets (LISTEN_FDS)", .badSettings,
            advice: "unset TASKS_LISTEN, or take the socket unit away: systemctl disable --now task-server.socket")
    }
    let observation = Observation(read.values.log)
    try rethrowing(as: OperatorError.init) { () throws(SystemError) in
        try observation.log.start()
    }
    // What was noticed until a start failed is part of the reason.
    defer { observation.log.close() }
    let reload = SettingsReload(started: read, input: input, log: observation.log)
    try TaskServerProcess(read.values, observation, of: manager, signals).run(until: signals, reload)
    return .success
}

private func readSettingFile(_ path: String) -> Result<String, OperatorError> {
    do throws(SystemError) {
        return .success(try File.text(path, limit: 1 << 16))
    } catch {
        return .failure(OperatorError(error.reason))
    }
}
