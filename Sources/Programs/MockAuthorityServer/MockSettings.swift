import MockAuthority
import Settings

/// The settings of the mock: one table that parses, prints the help and names itself in mistakes.
struct MockSettings: SettingTable {
    static let prefix = "MOCK_"

    let network: Network
    let files: Files
    let tls: TLS
    let behaviour: Behaviour
    let client: Client
    let printSettings: Bool

    /// The addresses on which the mock listens.
    struct Network: Sendable {
        let listen: ListenAddress
        let allowRemote: Bool
        /// The beginning of issuers; nil stands for the address on which the mock listens.
        let issuer: String?
        let issuerMode: Policy.Issuer?
    }

    /// The settings of the command client-settings.
    struct Client: Sendable {
        let kind: ClientKind?
        let tasks: String
    }

    /// The files that the mock reads and keeps.
    struct Files: Sendable {
        let configuration: String?
        let state: String?
    }

    /// The settings for https.
    struct TLS: Sendable {
        let listen: [ListenAddress]
        let names: [String]
    }

    init(reading reader: inout SettingReader) {
        network = Network(reading: &reader)
        files = Files(
            configuration: reader.optional(
                "CONFIG", .path, absence: "contoso with alice and bob",
                help: "A JSON file with tenant, policies, clients, resources, users, instead of the defaults."
            ),
            state: reader.optional(
                "STATE", .path, absence: "nothing is kept",
                help: "A folder for keys, accounts and the certificate, made if it is missing."))
        tls = TLS(reading: &reader, hasState: files.state != nil, allowRemote: network.allowRemote)
        behaviour = Behaviour(reading: &reader)
        client = Client(
            kind: reader.option("for", .choice, help: "Of client-settings: which client."),
            tasks: reader.value(
                "TASKS_URL",
                .text("URL", expected: "a URL without a slash at its end", example: "http://localhost:3000"),
                default: "http://localhost:3000", help: "Of client-settings: where task-server is."))
        printSettings = reader.flag("print-settings", help: "Prints each setting and its source.")
        // The program reads these itself; they are here for the help.
        _ = reader.flag("help", help: "Prints this.")
        _ = reader.flag("version", help: "Prints the version.")
    }
}

extension MockSettings.Network {
    fileprivate init(reading reader: inout SettingReader) {
        listen = reader.value(
            "LISTEN", .listenAddress, default: "127.0.0.1:3001", help: "Where to listen; port 0 lets the system choose."
        )
        allowRemote = reader.value(
            "ALLOW_REMOTE", .bool, default: "false",
            help:
                "Allows addresses other than the loopback, also for the controls: everyone who reaches it can be any user."
        )
        issuer = reader.optional(
            "ISSUER", .text("URL", expected: "a URL without a slash at its end", example: "http://localhost:3001"),
            absence: "http:// and the address of --listen", help: "What the issuers of all policies begin with.")
        issuerMode = reader.optional(
            "ISSUER_MODE", .choice, absence: "tenant",
            help: "Whether the issuer names the policy (tfp), as strict discovery clients need it, or not (tenant).")
        reader.checkIsLoopback(listen, allowRemote: allowRemote)
    }
}

extension SettingReader {
    fileprivate mutating func checkIsLoopback(_ listen: ListenAddress, allowRemote: Bool) {
        if listen.isLoopback || allowRemote { return }
        mistake(
            "\(listen) is not the loopback, and everyone who reaches the mock can be any user. Add --allow-remote if that "
                + "is intended.")
    }
}

extension MockSettings.TLS {
    fileprivate init(reading reader: inout SettingReader, hasState: Bool, allowRemote: Bool) {
        listen = reader.list(
            "TLS_LISTEN", .listenAddress,
            help: "Where to listen for https as well, with a certificate of its own authority (ca.pem of --state).")
        names = reader.list(
            "TLS_NAME", .text("NAME", expected: "a host name or an IPv4 address", example: "mock.test"),
            help:
                "More names of the server, in addition to localhost, 127.0.0.1, ::1 and the External ID hosts of the tenant."
        )
        if !listen.isEmpty, !hasState {
            reader.mistake("--tls-listen needs --state FOLDER: clients read the certificate to trust from it.")
        }
        for address in listen { reader.checkIsLoopback(address, allowRemote: allowRemote) }
    }
}

extension Behaviour {
    fileprivate init(reading reader: inout SettingReader) {
        self.init()
        lifetimes.token = Int64(
            reader.value(
                "TOKEN_LIFETIME", .integer(300...86400, example: 3600), default: "3600",
                help: "Lifetime of tokens: 300 to 86400 seconds (5 minutes to a day)."))
        era = reader.value(
            "ERA", .choice, default: Era.current.rawValue,
            help:
                "The period of B2C that it reproduces: preview2015 and classic for clients that read the old responses."
        )
        lax = reader.value(
            "LAX", .bool, default: "false", help: "Leaves redirect URIs and secrets unchecked.")
        strictRefresh = reader.value(
            "STRICT_REFRESH", .bool, default: "false", help: "Accepts each refresh token only once.")
        entra = EntraBehaviour(reading: &reader)
    }
}

extension EntraBehaviour {
    fileprivate init(reading reader: inout SettingReader) {
        self.init()
        issuerHost = reader.value(
            "ISSUER_HOST", .choice, default: IssuerHost.service.rawValue,
            help:
                "Of External ID and Entra: whether issuers name the host of the service, or that of each request, for clients that insist on one host."
        )
        let lifetime: Int? = reader.optional(
            "ENTRA_TOKEN_LIFETIME", .integer(600...100_800, example: 3900), absence: "3900 to 5700, at random",
            help: "Of External ID and Entra: seconds from iat to exp of access tokens, 600 to 100800.")
        tokenLifetime = lifetime.map { Int64($0) }
        passwordGrant = reader.value(
            "ENTRA_PASSWORD_GRANT", .bool, default: "false",
            help: "Allows the password grant at External ID and Entra; external tenants have none.")
        highScaleCompatibility = reader.value(
            "HIGH_SCALE_COMPATIBILITY", .bool, default: "false",
            help: "Makes the External ID tenant the B2C tenant: the same tenant id, accounts and oid.")
    }
}
