import Basics
import Settings

/// The command that the operands of the command line ask for.
enum Command: Sendable, Equatable {
    case serve
    case check
    case health(HealthQuestion)
    case explainToken
    case backup(to: String)
    case restore(from: String)
    /// To a file, or standard output.
    case export(to: String?)
    /// From a file, or standard input.
    case `import`(from: String?)
    case migrate
    case moveOwners(map: String)
    case deleteOwner(String)

    /// The command of these operands; without any, `serve`.
    init(_ operands: [String]) throws(OperatorError) {
        switch (operands.first, operands.count) {
        case (nil, _), ("serve", 1): self = .serve
        case ("check", 1): self = .check
        case ("health", 1): self = .health(.alive)
        case ("health", 2) where operands[1] == "ready": self = .health(.ready)
        case ("explain-token", 1): self = .explainToken
        case ("backup", 2): self = .backup(to: operands[1])
        case ("restore", 2): self = .restore(from: operands[1])
        case ("export", 1...2): self = .export(to: operands.dropFirst().first)
        case ("import", 1...2): self = .import(from: operands.dropFirst().first)
        case ("migrate", 1): self = .migrate
        case ("move-owners", 2): self = .moveOwners(map: operands[1])
        case ("delete-owner", 2): self = .deleteOwner(operands[1])
        case (let name?, _): throw OperatorError(CommandHelp.mistake(name), .badSettings)
        }
    }

    /// What is wrong if flags of other commands are given.
    func mistake(in flags: CommandFlags) -> String? {
        var move = flags.move
        switch self {
        case .moveOwners: move = MoveFlags()
        case .deleteOwner: move.applies = false
        default: break
        }
        guard move == MoveFlags() else {
            return
                "--apply, --merge, --list-unmapped and --any-namespace are for move-owners, and --apply is for delete-owner."
        }
        if flags.distributes, self != .migrate { return "--distribute is for migrate." }
        if case .export = self { return nil }
        return flags.owner == nil ? nil : "--owner is for export."
    }

    /// Whether the command ends in order after a signal; the others may end anywhere.
    var heedsSignals: Bool {
        switch self {
        case .serve, .export, .import, .moveOwners: true
        case .check, .health, .explainToken, .backup, .restore, .migrate, .deleteOwner: false
        }
    }

    /// Whether the command needs to know whose tokens are good.
    var needsAuthority: Bool {
        switch self {
        case .serve, .check, .explainToken: true
        case .health, .backup, .restore, .export, .import, .migrate, .moveOwners, .deleteOwner: false
        }
    }
}
