import Settings
import Testing

private struct Sample: SettingTable {
    enum Level: String, CaseIterable, Sendable { case debug, info }

    static let prefix = "TASKS_"
    let listen: [ListenAddress]
    let admin: ListenAddress?
    let patience: Duration
    let body: Int
    let query: Bool
    let level: Level
    let issuer: String?
    let password: String?
    let version: Bool
    let user: String?

    init(reading reader: inout SettingReader) {
        listen = reader.list("LISTEN", .listenAddress, default: ["127.0.0.1:3000"], help: "Where to listen.")
        admin = reader.value("ADMIN_LISTEN", .orOff(.listenAddress), default: "127.0.0.1:3002", help: "Metrics.")
        patience = reader.value(
            "PATIENCE", .duration(.zero ... .seconds(600), example: "10s"), default: "10s", help: "How long.")
        body = reader.value("BODY_LIMIT", .byteSize(1...1_048_576, example: "64KiB"), default: "64KiB", help: "Size.")
        query = reader.value("ALLOW_QUERY_TOKEN", .bool, default: "false", help: "Tokens in the query.")
        level = reader.value("LOG_LEVEL", .choice.reloadable, default: "info", help: "How much.")
        issuer = reader.optional(
            "ISSUER", .text("ISSUER", expected: "an issuer", example: "x"),
            absence: "from the metadata", help: "Pins it.")
        password = reader.optional(
            "PASSWORD", .text("TEXT", expected: "a password", example: "x").redacted { _ in "(hidden)" },
            help: "Secret.")
        version = reader.flag("version", help: "Prints the version.")
        user = reader.option("user", .text("NAME", expected: "a name", example: "alice"), help: "Whose token.")
        if level == .debug, query { reader.mistake("Debugging with tokens in the query is not wise.") }
    }
}

@Suite("A table of settings is read from flags and variables")
struct SettingTableTests {
    @Test func `A list without a value is a mistake, and not an empty list`() {
        let expected = "is not an IP address and a port (IPv6 in brackets). Example: 127.0.0.1:3000"
        #expect(Sample.mistakes([], ["TASKS_LISTEN": ","]) == ["TASKS_LISTEN: ',' \(expected)"])
        #expect(Sample.mistakes(["--listen", ",", "--listen="]) == ["--listen: ',,' \(expected)"])
        #expect(Sample.mistakes([], ["TASKS_LISTEN": ""]) == [])
    }

    @Test func `Settings have their defaults if none is given`() throws {
        let values = try Sample.read().values
        #expect(values.listen == [ListenAddress(host: "127.0.0.1", port: 3000)])
        #expect(values.admin == ListenAddress(host: "127.0.0.1", port: 3002))
        #expect(values.patience == .seconds(10))
        #expect(values.body == 65536)
        #expect(!values.query && values.level == .info && values.issuer == nil && !values.version)
    }

    @Test func `A flag precedes a variable, which precedes the default`() throws {
        let environment = ["TASKS_PATIENCE": "1m", "TASKS_ISSUER": "from environment", "TASKS_BODY_LIMIT": ""]
        let values = try Sample.read(["--patience", "2m"], environment).values
        #expect(values.patience == .seconds(120))
        #expect(values.issuer == "from environment")
        #expect(values.body == 65536, "an empty variable counts as absent")
    }

    @Test(arguments: [
        ["--listen", "127.0.0.1:1", "--listen=[::1]:2"], ["--listen=127.0.0.1:1,[::1]:2"],
        ["--listen", "127.0.0.1:1, [::1]:2"],
    ])
    func `A list is read from repeated flags and from commas`(arguments: [String]) throws {
        #expect(try Sample.read(arguments).values.listen.map(\.description) == ["127.0.0.1:1", "[::1]:2"])
    }

    @Test func `A bare flag of a truth value is yes, and the command after it is not its value`() throws {
        let read = try Sample.read(["--allow-query-token", "check"])
        #expect(read.values.query)
        #expect(read.operands == ["check"])
        #expect(try !Sample.read(["--allow-query-token", "off"], [:]).values.query)
    }

    @Test func `The value off means none for some settings`() throws {
        #expect(try Sample.read([], ["TASKS_ADMIN_LISTEN": "off"]).values.admin == nil)
    }

    @Test func `Commands and everything after two dashes are operands`() throws {
        let read = try Sample.read(["backup", "--user", "alice", "a.db", "--", "--version"])
        #expect(read.operands == ["backup", "a.db", "--version"])
        #expect(read.values.user == "alice")
        #expect(!read.values.version)
    }

    @Test func `All mistakes are reported together`() {
        let found = Sample.mistakes(
            ["--lisen", "127.0.0.1:1", "--patience", "soon"],
            ["TASKS_LOG_LEVEL": "loud", "TASKS_ISUER": "x", "TASKS_BODY_LIMIT": "2GiB", "HOME": "/root"])
        #expect(
            found == [
                "--patience: 'soon' is not a time from 0s to 10m (units ms, s, m, h, d). Example: 10s",
                "TASKS_BODY_LIMIT: '2GiB' is not a size from 1 to 1048576 bytes (units B, KiB, MiB, GiB). Example: 64KiB",
                "TASKS_LOG_LEVEL: 'loud' is not one of debug, info. Example: debug",
                "--lisen is no flag of this program. Did you mean --listen?",
                "TASKS_ISUER is no setting of this program. Did you mean TASKS_ISSUER?",
            ])
    }

    @Test func `A flag without its value is a mistake with an example`() {
        #expect(
            Sample.mistakes(["--patience", "--version"])
                == ["--patience needs a value: a time from 0s to 10m (units ms, s, m, h, d). Example: --patience 10s"])
    }

    @Test func `A single setting given twice, and a value for a flag without one, are mistakes`() {
        #expect(
            Sample.mistakes(["--patience=1", "--patience=2", "--version=3"])
                == ["--patience was given 2 times; give it once.", "--version takes no value."])
    }

    @Test func `A mistake in a combination of settings is reported with the others`() {
        #expect(
            Sample.mistakes(["--log-level=debug", "--allow-query-token"])
                == ["Debugging with tokens in the query is not wise."])
    }

    @Test func `Variables that Kubernetes sets for a service of the same name are ignored`() {
        #expect(Sample.mistakes([], ["TASKS_PORT": "tcp://10.0.0.1:80", "TASKS_SERVICE_HOST": "10.0.0.1"]).isEmpty)
        #expect(Sample.mistakes([], ["TASKS_PORT_80_TCP_ADDR": "10.0.0.1", "TASKS_SERVICE_PORT_HTTP": "80"]).isEmpty)
    }

    @Test(
        "A value in quotes is refused with the reason, whatever its source",
        arguments: [
            ([], ["TASKS_ISSUER": "\"x\""]), ([], ["TASKS_ISSUER": "'x'"]), ([], ["TASKS_BODY_LIMIT": "\"1\""]),
            ([], ["TASKS_LISTEN": "\"127.0.0.1:1,[::1]:2\""]), ([], ["TASKS_LISTEN": "127.0.0.1:1,'[::1]:2'"]),
            (["--issuer='x'"], [:]), (["--user", "\"alice\""], [:]), ([], ["TASKS_PASSWORD": "'hunter2'"]),
            ([], ["TASKS_ISSUER": "\"\""]), ([], ["TASKS_PASSWORD_FILE": "quoted"]),
        ] as [([String], [String: String])])
    func quotes(arguments: [String], environment: [String: String]) {
        do throws(SettingMistakes) {
            _ = try Sample.read(arguments, environment, files: ["quoted": "'hunter2'\n"])
            Issue.record("\(arguments) \(environment) is accepted")
        } catch {
            #expect(error.messages.count == 1 && error.description.contains(" is in quotes. "), "\(error)")
            #expect(!error.description.contains("hunter2"), "\(error)")
        }
    }

    @Test(arguments: ["\"", "x\"", "a'b'c", "'"])
    func `A quotation mark that is a part of a text stays`(text: String) throws {
        #expect(try Sample.read([], ["TASKS_ISSUER": text]).values.issuer == text)
    }

    @Test func `Control characters are made visible in mistakes`() {
        #expect(Sample.mistakes(["--log-level=\u{1B}[31mred"]).first?.contains("\u{1B}") == false)
    }
}

@Suite("Secrets in settings stay secret")
struct SecretSettingTests {
    @Test(arguments: [
        ("p w\n", "p w"), ("p w\r\n", "p w"), ("p w", "p w"), ("p w\n\n", "p w\n"), ("p w\r", "p w\r"),
        ("p w\u{2028}", "p w\u{2028}"),
    ])
    func `A secret is read from a file, without the newline at its end`(content: String, password: String) throws {
        let files = ["/run/secrets/password": content]
        let byVariable = try Sample.read([], ["TASKS_PASSWORD_FILE": "/run/secrets/password"], files: files)
        #expect(byVariable.values.password == password)
        let byFlag = try Sample.read(["--password-file", "/run/secrets/password"], files: files)
        #expect(byFlag.values.password == password)
    }

    @Test func `A setting that can change is read from a file, shown, and not given by an empty file`() throws {
        let environment = ["TASKS_LOG_LEVEL_FILE": "level"]
        let debug = try Sample.read([], environment, files: ["level": "debug\n"])
        #expect(debug.values.level == .debug && debug.printed.contains("TASKS_LOG_LEVEL=debug  # environment"))
        let empty = try Sample.read([], environment, files: ["level": "\n"])
        #expect(empty.values.level == .info && !empty.isGiven("TASKS_LOG_LEVEL"))
        #expect(debug.changes(since: empty) == ["TASKS_LOG_LEVEL"] && empty.changes(since: empty) == [])
    }

    @Test func `A secret with two sources is a mistake`() {
        #expect(
            Sample.mistakes([], ["TASKS_PASSWORD": "x", "TASKS_PASSWORD_FILE": "y"])
                == ["TASKS_PASSWORD and TASKS_PASSWORD_FILE are both set; set one of them."])
    }

    @Test func `A file that cannot be read is named`() {
        #expect(
            Sample.mistakes([], ["TASKS_PASSWORD_FILE": "/nowhere"])
                == ["TASKS_PASSWORD_FILE: cannot read '/nowhere': No such file or directory"])
    }

    @Test func `Secrets are hidden when settings are printed`() throws {
        let printed = try Sample.read(["--log-level", "debug"], ["TASKS_PASSWORD": "hunter2"]).printed
        #expect(!printed.contains("hunter2"))
        #expect(printed.contains("TASKS_PASSWORD=(hidden)  # environment\n"))
        #expect(printed.contains("TASKS_LOG_LEVEL=debug  # flag\n"))
        #expect(printed.contains("TASKS_LISTEN=127.0.0.1:3000  # default\n"))
        #expect(printed.contains("TASKS_ISSUER=  # default: from the metadata\n"))
    }
}

@Suite("The help text lists the settings")
struct SettingHelpTests {
    @Test func `The help names flag, value, variable and default of each setting`() {
        #expect(
            Sample.helpText.hasPrefix(
                """
                    --listen ADDRESS:PORT
                        Where to listen.
                        [TASKS_LISTEN; several: repeat or use commas; default: 127.0.0.1:3000]

                """))
        #expect(Sample.helpText.contains("or --password-file, TASKS_PASSWORD_FILE"))
        #expect(Sample.helpText.contains("    --version\n        Prints the version.\n"))
    }
}
