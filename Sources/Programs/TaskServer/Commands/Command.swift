/// What the program is asked to do, by the words of its command line that are no flags.
enum Command: Sendable, Equatable {
    case serve
    case check
    case health(HealthQuestion)
    case explainToken
    case backup(to: String)
    /// To a file, or standard output.
    case export(to: String?)
    /// From a file, or standard input.
    case `import`(from: String?)
    case migrate

    /// The command of these words; none is `serve`.
    init(_ words: [String]) throws(CommandMistake) {
        switch (words.first, words.count) {
        case (nil, _), ("serve", 1): self = .serve
        case ("check", 1): self = .check
        case ("health", 1): self = .health(.alive)
        case ("health", 2) where words[1] == "ready": self = .health(.ready)
        case ("explain-token", 1): self = .explainToken
        case ("backup", 2): self = .backup(to: words[1])
        case ("export", 1...2): self = .export(to: words.dropFirst().first)
        case ("import", 1...2): self = .import(from: words.dropFirst().first)
        case ("migrate", 1): self = .migrate
        case ("backup", _):
            throw CommandMistake(sentence: "backup needs one file to write. Example: task-server backup tasks-copy.db")
        case ("export", _), ("import", _):
            throw CommandMistake(sentence: "\(words[0]) takes one file. Example: task-server \(words[0]) tasks.jsonl")
        case ("health", _):
            throw CommandMistake(
                sentence: "health takes nothing behind it but ready. Example: task-server health ready")
        case ("explain-token", _):
            throw CommandMistake(
                sentence: "explain-token reads the token from standard input, where no process list shows it. "
                    + "Example: task-server explain-token < token.txt")
        case (let word?, _) where Self.words.contains(word):
            throw CommandMistake(sentence: "\(word) takes nothing behind it.")
        case (.some, _):
            throw CommandMistake(
                sentence: "There is no such command; the commands are \(Self.words.joined(separator: ", ")).")
        }
    }

    private static let words = ["serve", "check", "health", "explain-token", "backup", "export", "import", "migrate"]

    /// Whether it can go on with what another run has left.
    var canResume: Bool {
        switch self {
        case .export(.some): true
        case .serve, .check, .health, .explainToken, .backup, .export(nil), .import, .migrate: false
        }
    }

    /// Whether it ends by itself when it is told to; the others just end, as they may anywhere.
    var heedsSignals: Bool {
        switch self {
        case .serve, .export, .import: true
        case .check, .health, .explainToken, .backup, .migrate: false
        }
    }

    /// Whether it cannot work without knowing whose tokens are good.
    var needsAuthority: Bool {
        switch self {
        case .serve, .check, .explainToken: true
        case .health, .backup, .export, .import, .migrate: false
        }
    }
}

/// What is wrong with the command.
struct CommandMistake: Error, Equatable {
    let sentence: String
}
