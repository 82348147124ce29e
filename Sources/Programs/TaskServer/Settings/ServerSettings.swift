import Basics
import HTTP
import IssuerKeys
import Platform
import Settings

struct ServerSettings: SettingTable {
    static let prefix = "TASKS_"

    let listen: [ListenAddress]
    let adminListen: ListenAddress?
    let transport: TransportSettings
    let sources: SourcesSettings
    /// The authority as browsers reach it, if that differs.
    let pageAddress: WebAddress?
    let tokens: TokenSettings
    let storage: StorageSettings
    let limits: LimitSettings
    let log: LogSettings
    let command: CommandFlags

    init(reading reader: inout SettingReader) {
        listen = reader.list(
            "LISTEN", .listenAddress, default: ["127.0.0.1:3000"],
            help: "Where to listen. For clients on other machines, put a TLS proxy in front.")
        adminListen = reader.value(
            "ADMIN_LISTEN", .orOff(.listenAddress), default: "127.0.0.1:3002",
            help: "Where to listen for operators: /metrics, /healthz and /readyz.")
        transport = TransportSettings(reading: &reader)
        sources = SourcesSettings(reading: &reader)
        pageAddress = reader.optional(
            "PAGE_AUTHORITY", .webAddress(example: "http://localhost:3001/contoso.onmicrosoft.com"),
            absence: "TASKS_AUTHORITY", help: "The authority as browsers reach it, if that differs.")
        tokens = TokenSettings(reading: &reader)
        storage = StorageSettings(reading: &reader)
        limits = LimitSettings(reading: &reader)
        log = LogSettings(reading: &reader)
        command = CommandFlags(reading: &reader)
    }

    private static let explanationNeeds =
        "explain-token applies the rules of a server, so it needs that server's settings: TASKS_AUTHORITY (for Azure AD B2C "
        + "with TASKS_POLICIES) or TASKS_METADATA_URL, and TASKS_CLIENT_ID. Example: "
        + "TASKS_AUTHORITY=https://contoso.b2clogin.com/contoso.onmicrosoft.com TASKS_POLICIES=b2c_1_sign_in "
        + "TASKS_CLIENT_ID=580e250c-8f26-49d0-bee8-1c078add1609 task-server explain-token < token.txt"

    func mistakes(for operands: [String]) -> [String] {
        let command: Command
        do throws(OperatorError) {
            command = try Command(operands)
        } catch {
            return [error.message]
        }
        guard !self.command.printSettings else { return [] }
        if let mistake = command.mistake(in: self.command) { return [mistake] }
        guard command.needsAuthority else { return [] }
        // Only sources that are complete are compared with each other.
        let mistakes = sources.mistakes
        guard !mistakes.isEmpty else { return issuerKeys.mistakes }
        return (command == .explainToken && !sources.isGiven ? [Self.explanationNeeds] : []) + mistakes
    }
}

/// The limits of a server; each has a default.
struct LimitSettings: Sendable {
    let connections: Int
    /// The value of the setting, if it is given; a nil inside means that there is no limit.
    private let perAddress: Int??
    let trustedProxies: [IPAddressRange]
    let body: Int
    let tasks: Int
    let answerMemory: Int
    let rate: Int?
    let streams: Int
    let keepAlive: Duration
    let shutdownDelay: Duration
    let shutdownPatience: Duration

    init(reading reader: inout SettingReader) {
        connections = reader.value(
            "CONNECTIONS", .integer(1...100_000, example: 1000), default: "1000",
            help: "Open connections of each listener, besides streams; fewer if the process may not open that many "
                + "files.")
        perAddress = reader.optional(
            "CONNECTIONS_PER_ADDRESS", .orOff(.integer(1...100_000, example: 250)),
            absence: "a quarter of TASKS_CONNECTIONS",
            help: "Open connections from one IPv4 address or IPv6 /64, except this machine and trusted proxies, and "
                + "concurrent requests of one client of such a proxy.")
        streams = reader.value(
            "STREAMS", .integer(1...100_000, example: 500), default: "500",
            help: "Streams of changes that may be open at once, on connections that are counted apart; a person "
                + "may have 8.")
        trustedProxies = reader.list(
            "TRUSTED_PROXIES", .addressRange,
            help: "Addresses or ranges of proxies whose Forwarded or X-Forwarded-For is believed; each must append the "
                + "address of its client.")
        body = reader.value(
            "BODY_LIMIT", .byteSize(1024...16_777_216, example: "64KiB"), default: "64KiB",
            help: "The longest body of a request.")
        tasks = reader.value(
            "MAX_TASKS", .integer(1...10_000_000, example: 10_000), default: "10000",
            help: "How many tasks one person may have.")
        answerMemory = reader.value(
            "ANSWER_MEMORY", .byteSize((1 << 20)...(1 << 40), example: "64MiB"), default: "64MiB",
            help: "Memory for long lists while they are sent; a list longer than a sixteenth of it is sent in pages.")
        rate = reader.value(
            "RATE_LIMIT", .orOff(.integer(1...1_000_000, example: 50)), default: "off",
            help: "Requests per second of one person, with bursts of twice as many. "
                + "Each answer says in `RateLimit` how many are left.")
        keepAlive = reader.value(
            "KEEP_ALIVE", .duration(.seconds(1) ... .seconds(3600), example: "75s"), default: "75s",
            help: "How long a connection waits for its next request, if no other one needs its place; longer than the "
                + "proxy in front keeps it.")
        shutdownDelay = reader.value(
            "SHUTDOWN_DELAY", .duration(.zero ... .seconds(600), example: "3s"), default: "0s",
            help: "How long the server serves on when it is told to stop, until balancers have seen /readyz say so.")
        shutdownPatience = reader.value(
            "SHUTDOWN_PATIENCE", .duration(.zero ... .seconds(600), example: "10s"), default: "10s",
            help: "How long requests in progress may take when the server stops.")
    }

    /// How many of this number of connections one address may have; 0 means that there is no limit.
    func connectionsPerAddress(of connections: Int) -> Int {
        guard let perAddress else { return max(connections / 4, 8) }
        return perAddress ?? 0
    }
}

struct LogSettings: Sendable {
    let level: LogLevel
    let format: LogFormatSetting
    let requests: LoggedRequests

    init(reading reader: inout SettingReader) {
        level = reader.value(
            "LOG_LEVEL", .choice.reloadable, default: "info", help: "The least important lines to log.")
        format = reader.value(
            "LOG_FORMAT", .choice, default: "auto",
            help: "Lines on standard output: auto is text on a terminal and JSON elsewhere.")
        requests = reader.value(
            "LOG_REQUESTS", .loggedRequests, default: "all",
            help: "Which requests of people are logged: all, errors (refused and failed ones), or errors and one in N "
                + "of the others.")
    }
}

extension SettingKind where Value == LoggedRequests {
    fileprivate static let loggedRequests = SettingKind(
        placeholder: "all|errors|1/N", expected: "all, errors, or 1/N with N from 2 to 1000000", example: "1/100"
    ) { text in
        switch text {
        case "all": return .all
        case "errors": return .errors
        default:
            guard text.hasPrefix("1/"), let count = Int(text.dropFirst(2)), (2...1_000_000).contains(count) else {
                return nil
            }
            return .sample(count)
        }
    }
}

enum LogFormatSetting: String, CaseIterable, Sendable { case auto, text, json }

/// Flags that are not settings of the server.
struct CommandFlags: Sendable {
    let printSettings: Bool
    let move: MoveFlags
    /// The only owner whose tasks are exported.
    let owner: String?
    let distributes: Bool

    init(reading reader: inout SettingReader) {
        printSettings = reader.flag(
            "print-settings", help: "Prints each setting with its value and its source; secrets are hidden.")
        // The program reads these two itself; they are here for the help.
        _ = reader.flag("version", help: "Prints the version.")
        move = MoveFlags(reading: &reader)
        owner = reader.option(
            "owner", .path,
            help: "For export: only what is stored of this person, who is named as in a map of move-owners.")
        distributes = reader.flag("distribute", help: "For migrate: lets Citus distribute the tables over its nodes.")
        _ = reader.flag("help", help: "Prints this.")
    }
}

/// Flags of `move-owners`, of which `delete-owner` has `--apply`.
struct MoveFlags: Sendable, Equatable {
    /// Whether owners are moved; otherwise the command only says what it would do.
    var applies = false
    var merges = false
    /// Whether tasks may go to owners of no source of the settings.
    var allowsAnyNamespace = false
    /// The file for the owners whom the map does not name.
    var unmapped: String?

    /// No flag is given.
    init() {}

    init(reading reader: inout SettingReader) {
        applies = reader.flag("apply", help: "For move-owners and delete-owner: does it; else nothing is changed.")
        merges = reader.flag(
            "merge",
            help: "For move-owners: moves also to owners who have tasks; the moved ones come after those, with new ids."
        )
        allowsAnyNamespace = reader.flag(
            "any-namespace",
            help: "For move-owners: moves also to owners of sources that are not configured, whom no token names.")
        unmapped = reader.option(
            "list-unmapped", .path,
            help: "For move-owners: a new file for all owners with tasks whom the map does not name, one a line.")
    }
}

extension ServerSettings {
    /// The mistake if the file for keys is also another file of the server, which the keys would replace.
    var keyCacheMistake: String? {
        guard let path = storage.keyCache,
            let other = otherFiles.first(where: { File.isSame(path, as: $0.path) })
        else { return nil }
        return "TASKS_KEY_CACHE_FILE: \(path) is also \(other.name), which the keys would replace; name a file of its "
            + "own, or off"
    }

    /// The database with the files beside it, and the files of other settings.
    private var otherFiles: [(name: String, path: String)] {
        let databases = storage.database.path.map { [$0, File.target(of: $0)] } ?? []
        let suffixes = ["-wal", "-shm", "-journal", ".lock"]
        let besides = databases.flatMap { path in suffixes.map { ("a file of the database", path + $0) } }
        let settings = transport.files + sources.all.map { ($0.setting("CA_FILE"), $0.provider.certificates) }
        let named = settings.compactMap { setting, path in path.map { ("the file of \(setting)", $0) } }
        return databases.map { ("the database", $0) } + besides + named
    }
}
