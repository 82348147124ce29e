import Basics
import MockAuthority
import Settings

/// The settings of the mock, in one table that parses them, prints the help and reports mistakes.
struct MockSettings: SettingTable {
    static let prefix = "MOCK_"
    /// Test suites have variables of their own, such as `MOCK_SERVER_URL`.
    static let refusesUnknownVariables = false

    let network: Network
    let configurationFile: String?
    let state: String?
    let tls: TLS
    let persona: Persona
    let behaviour: Behaviour
    /// The client for which client-settings prints the settings.
    let clientKind: ClientKind?
    let tasks: String
    /// What a test suite that starts the mock wants of it.
    let printReady: Bool
    let endWithInput: Bool
    let printSettings: Bool

    struct Network: Sendable {
        let listen: ListenAddress
        let allowRemote: Bool
        /// The beginning of issuers; nil stands for the address on which the mock listens.
        let issuer: String?
        /// The origin under which clients reach the mock through a proxy.
        let publicURL: WebAddress?
        let trustedProxies: [IPAddressRange]
        let issuerMode: Policy.Issuer?

        fileprivate init(reading reader: inout SettingReader) {
            listen = reader.value(
                "LISTEN", .listenAddress, default: "127.0.0.1:3001",
                help: "The address to listen on. Port 0 lets the system choose a port.")
            allowRemote = reader.value(
                "ALLOW_REMOTE", .bool, default: "false",
                help:
                    "Lets the mock listen on addresses that other machines reach. Everyone who reaches the mock can be any "
                    + "user, and can use the controls.")
            issuer = reader.optional(
                "ISSUER", .word("URL", expected: "a URL without a slash at its end", example: "http://localhost:3001"),
                absence: "--public-url, else https://localhost and the port of --tls-listen, else http:// and the "
                    + "address of --listen",
                help: "The text with which the issuers of all policies begin.")
            publicURL = reader.optional(
                "PUBLIC_URL", .origin, absence: "each answer has the address that was asked for",
                help:
                    "The address under which clients reach the mock through a proxy or a tunnel. All addresses that the mock "
                    + "names begin with it.")
            trustedProxies = reader.list(
                "TRUSTED_PROXIES", .addressRange,
                help:
                    "Addresses or ranges of proxies whose Forwarded, or X-Forwarded-Proto and X-Forwarded-Host, is believed; "
                    + "each must replace what its clients send.")
            issuerMode = reader.optional(
                "ISSUER_MODE", .choice, absence: "tenant",
                help: "tfp names the policy in the issuer, as strict discovery clients need it; tenant does not.")
            reader.checkIsLoopback(listen, allowRemote: allowRemote)
        }
    }

    struct TLS: Sendable {
        let listen: [ListenAddress]
        let names: [String]

        fileprivate init(reading reader: inout SettingReader, hasState: Bool, allowRemote: Bool) {
            listen = reader.list(
                "TLS_LISTEN", .listenAddress,
                help:
                    "More addresses to listen on, for https. The mock's own authority signs the certificate (ca.pem in the "
                    + "folder of --state).")
            names = reader.list(
                "TLS_NAME", .word("NAME", expected: "a host name or an IPv4 address", example: "mock.test"),
                help:
                    "More names for the certificate. It always has localhost, 127.0.0.1, ::1 and the External ID hosts of "
                    + "the tenant.")
            if !listen.isEmpty, !hasState {
                reader.mistake("--tls-listen needs --state FOLDER: clients read the certificate to trust from it.")
            }
            for address in listen { reader.checkIsLoopback(address, allowRemote: allowRemote) }
        }
    }

    init(reading reader: inout SettingReader) {
        network = Network(reading: &reader)
        configurationFile = reader.optional(
            "CONFIG", .path, absence: "contoso with alice and bob",
            help: "A JSON file with the tenant, policies, clients, resources and users, in place of the defaults.")
        state = reader.optional(
            "STATE", .path, absence: "nothing is kept",
            help: "A folder for the keys, the accounts and the certificate. The mock makes it if it is missing.")
        tls = TLS(reading: &reader, hasState: state != nil, allowRemote: network.allowRemote)
        persona = reader.value(
            "PERSONA", .choice, default: Persona.microsoft.rawValue,
            help:
                "Whose behaviour the mock plays: Microsoft's services, or one OpenID provider that follows the standards, "
                + "without what Microsoft does differently.")
        behaviour = Behaviour(reading: &reader)
        clientKind = reader.option("for", .choice, help: "The client for which client-settings prints the settings.")
        tasks = reader.value(
            "TASKS_URL", .word("URL", expected: "a URL without a slash at its end", example: "http://localhost:3000"),
            default: "http://localhost:3000", help: "The address of task-server, which client-settings prints.")
        printReady = reader.flag(
            "print-ready",
            help: "Prints a line of JSON first, when the mock can sign tokens: addresses, issuers, users, clients.")
        endWithInput = reader.flag(
            "end-with-input", help: "Ends when standard input does, and so with the program that started the mock.")
        printSettings = reader.flag("print-settings", help: "Prints each setting with its value and its source.")
        // The program reads these itself; they are here for the help.
        _ = reader.flag("help", help: "Prints this.")
        _ = reader.flag("version", help: "Prints the version.")
    }
}

extension SettingKind where Value == WebAddress {
    /// Scheme, host and perhaps port: clients of B2C take the first segment of a path for the tenant.
    fileprivate static let origin = SettingKind(
        placeholder: "URL", expected: "http:// or https:// and a name, without a path",
        example: "https://auth.example.com"
    ) { text in WebAddress(text).flatMap { $0.path.isEmpty && $0.query == nil && !$0.hasFragment ? $0 : nil } }
}

extension SettingReader {
    fileprivate mutating func checkIsLoopback(_ listen: ListenAddress, allowRemote: Bool) {
        if listen.isLoopback || allowRemote { return }
        mistake(
            "\(listen) is not the loopback, and everyone who reaches the mock can be any user. Add --allow-remote if "
                + "that is intended.")
    }
}

extension Behaviour {
    fileprivate init(reading reader: inout SettingReader) {
        self.init()
        tokenLifetime = Int64(
            reader.value(
                "TOKEN_LIFETIME", .integer(300...86400, example: 3600), default: "3600",
                help: "The lifetime of tokens, from 300 to 86400 seconds (5 minutes to a day)."))
        era = reader.value(
            "ERA", .choice, default: Era.current.rawValue,
            help:
                "The period of B2C that the mock reproduces. Clients that read the old responses need preview2015 or "
                + "classic.")
        lax = reader.value("LAX", .bool, default: "false", help: "Accepts every redirect URI and every client secret.")
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
                "The host in the issuers: that of the service (at B2C of --issuer), or that of each request for clients "
                + "that insist on one host.")
        let lifetime: Int? = reader.optional(
            "ENTRA_TOKEN_LIFETIME", .integer(600...100_800, example: 3900), absence: "3900 to 5700, at random",
            help: "The seconds from iat to exp in access tokens of External ID and Entra, from 600 to 100800.")
        tokenLifetime = lifetime.map { Int64($0) }
        passwordGrant = reader.value(
            "ENTRA_PASSWORD_GRANT", .bool, default: "false",
            help: "Allows the password grant at External ID and Entra. Microsoft's external tenants refuse it.")
        highScaleCompatibility = reader.value(
            "HIGH_SCALE_COMPATIBILITY", .bool, default: "false",
            help: "Gives the External ID tenant the id, the accounts and the oids of the B2C tenant.")
    }
}
