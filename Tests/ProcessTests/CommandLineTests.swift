import Glibc
import HTTPServer
import Platform
import Settings
import Support
import Testing

@testable import TaskServer

@Suite("The command line of task-server") struct CommandLineTests {
    private static func run(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> ChildProcess.Outcome {
        try ChildProcess(ChildProcess.built("task-server"), arguments, environment: environment).outcome()
    }

    @Test func `The help, that of each command and the version are printed, also where settings are wrong`() throws {
        let (end, output, errors) = try Self.run(["--help"], ["TASKS_NONSENSE": "1"])
        #expect(end == .exit(0) && errors == "")
        for word in ["Usage:", "explain-token", "TASKS_LISTEN", "--client-id", "Exit codes:"] {
            #expect(output.contains(word))
        }
        for command in [
            "serve", "check", "health", "explain-token", "backup", "restore", "export", "import", "move-owners",
            "delete-owner", "migrate",
        ] {
            let (end, ofCommand, errors) = try Self.run([command, "--help"], ["TASKS_NONSENSE": "1"])
            #expect(end == .exit(0) && errors == "")
            #expect(ofCommand.hasPrefix("Usage: task-server \(command)"), "\(ofCommand)")
            #expect(ofCommand.contains("\nExample: task-server") && !ofCommand.contains("--client-id"), "\(ofCommand)")
            #expect(output.contains("    task-server \(command)"))
        }
        let version = try Self.run(["--version"])
        #expect(version.end == .exit(0))
        #expect(version.output.hasPrefix("task-server ") && version.output.split(separator: "\n").count == 1)
    }

    @Test func `Wrong settings end the program with 78, and all of them are named at once`() throws {
        let (end, output, errors) = try Self.run(
            ["--listen", "everywhere", "--lsiten=127.0.0.1:1"],
            [
                "TASKS_BODY_LIMIT": "0", "TASKS_CLIENTID": "x", "TASKS_DATABASE": "mysql://u:secret@h/d",
                "TASKS_PUBLIC_URL": "http://tasks.example.com", "TASKS_TLS_CERT": "tls.pem",
                "TASKS_CORS_ORIGINS": "https://app.example.com/path",
            ])
        #expect(end == .exit(78) && output == "")
        let lines = errors.split(separator: "\n")
        for message in [
            "--listen: 'everywhere'", "TASKS_BODY_LIMIT: '0'", "TASKS_DATABASE: its value is not sqlite:PATH",
            "--lsiten is no flag of this program. Did you mean --listen?",
            "TASKS_CLIENTID is no setting of this program. Did you mean TASKS_CLIENT_ID?",
            "TASKS_AUTHORITY is not set", "TASKS_CLIENT_ID is not set", "TASKS_PUBLIC_URL must begin with https://",
            "TASKS_TLS_CERT and TASKS_TLS_KEY belong together", "TASKS_CORS_ORIGINS: 'https://app.example.com/path'",
        ] {
            #expect(lines.contains { $0.contains(message) }, "\(message)")
        }
        #expect(!errors.contains("secret"))
    }

    @Test(arguments: ["sqlite::memory:", "sqlite:///:memory:", "sqlite:file::memory:?cache=shared"])
    func `Other names of a database in memory are refused, and not the names of files`(name: String) throws {
        let (end, _, errors) = try Self.run(["export"], ["TASKS_DATABASE": name])
        #expect(end == .exit(78) && errors.contains("postgresql://... or memory:"), "\(errors)")
    }

    @Test func `A token is explained by the rules of a server, whose settings are named if they are missing`() throws {
        let (end, output, errors) = try Self.run(["explain-token"])
        #expect(end == .exit(78) && output == "")
        let first = "task-server: explain-token applies the rules of a server, so it needs that server's settings: "
        #expect(errors.hasPrefix(first), "\(errors)")
        for words in [
            "TASKS_AUTHORITY", "TASKS_POLICIES", "TASKS_METADATA_URL", "TASKS_CLIENT_ID",
            "task-server explain-token < token.txt",
        ] {
            #expect(errors.split(separator: "\n").first?.contains(words) == true, "\(errors)")
        }
        #expect(try !Self.run(["check"]).errors.contains("explain-token"))
    }

    @Test(
        "One address may have a quarter of the connections, or what the setting says",
        arguments: [
            ([:], 250), (["TASKS_CONNECTIONS_PER_ADDRESS": "3"], 3), (["TASKS_CONNECTIONS_PER_ADDRESS": "off"], 0),
        ]
            as [([String: String], Int)])
    func connectionsPerAddress(settings: [String: String], limit: Int) throws {
        let limits = try ServerSettings.read(SettingInput(arguments: ["health"], environment: settings)).values.limits
        #expect(limits.connectionsPerAddress(of: limits.connections) == limit)
        #expect(limits.connectionsPerAddress(of: 12) == (settings.isEmpty ? 8 : limit))
    }

    @Test func `Streams have connections besides those of requests`() throws {
        let settings = ["TASKS_CONNECTIONS": "100", "TASKS_STREAMS": "30"]
        let input = SettingInput(arguments: ["health"], environment: settings)
        let limits = try ServerSettings.read(input).values.serverLimits
        #expect((limits.connections, limits.streams, limits.suspensions) == (130, 30, 100))
        #expect(limits.connectionsOfRequests == 100)
    }

    @Test(
        "An unknown command or flag ends the program with 78, and says which one may be meant",
        arguments: [
            (["chekc"], "There is no such command. Did you mean check?"),
            (["frobnicate"], "There is no such command. The commands are serve, check, "),
            (["check", "this"], "The command is task-server check. Example: "),
            (["health", "raedy"], "The command is task-server health [ready]. Example: task-server health ready"),
            (["backup"], "The command is task-server backup FILE. Example: task-server backup "),
            (["explain-token", "eyJ"], "The command is task-server explain-token < FILE. Example: "),
            (["backup", "--databse", "x"], "--databse is no flag of this program. Did you mean --database?"),
            (["export", "--resume", "x"], "--resume is no flag of this program."),
        ] as [([String], String)])
    func unknown(arguments: [String], message: String) throws {
        let (end, output, errors) = try Self.run(arguments)
        #expect(end == .exit(78) && output == "")
        #expect(errors.split(separator: "\n").contains { $0.hasPrefix("task-server: \(message)") }, "\(errors)")
        #expect(!errors.contains("eyJ"))
    }

    @Test(
        "An address without its scheme is one mistake",
        arguments: [
            ["TASKS_AUTHORITY": "contoso.b2clogin.com/contoso", "TASKS_POLICIES": "b2c_1_sign_in"],
            ["TASKS_AUTHORITY": "contoso.ciamlogin.com"], ["TASKS_METADATA_URL": "id.example.com/metadata"],
        ])
    func missingScheme(settings: [String: String]) throws {
        let (end, _, errors) = try Self.run(["check"], settings.merging(["TASKS_CLIENT_ID": Stage.client]) { $1 })
        let lines = errors.split(separator: "\n")
        #expect(end == .exit(78) && lines.count == 2, "\(errors)")
        #expect(lines.first?.contains(" is not a URL with https://") == true, "\(errors)")
    }

    @Test func `A password of the database is never printed, however it is given`() throws {
        let folder = try TemporaryFolder()
        let words = ["//tasks:geheim@db.example/tasks", "//db.example/tasks?user=tasks&password=geheim"]
        for address in words.flatMap({ ["postgresql:\($0)", "postgres:\($0)"] }) {
            // Editors of Windows begin a file with a byte-order mark.
            try File.replace(folder.file("address"), with: Array("\u{FEFF}\(address)".utf8))
            for (arguments, environment, source) in [
                ([], ["TASKS_DATABASE": address], "environment"), (["--database", address], [:], "flag"),
                ([], ["TASKS_DATABASE_FILE": folder.file("address")], "environment"),
                (["--database-file", folder.file("address")], [:], "flag"),
            ] {
                let printed = try Self.run(["--print-settings"] + arguments, environment)
                let line = "TASKS_DATABASE=\(address.prefix { $0 != ":" }):(hidden)  # \(source)\n"
                #expect(printed.end == .exit(0) && printed.output.contains(line), "\(printed)")
                #expect(!(printed.output + printed.errors).contains("geheim"), "\(printed)")
            }
        }
        let refused = try Self.run(["--print-settings"], ["TASKS_DATABASE": "host=db.example password=geheim"])
        #expect(refused.end == .exit(78) && !refused.errors.contains("geheim"), "\(refused)")
    }

    @Test func `Plain http to another machine is refused unless a setting allows it`() throws {
        let settings = ["TASKS_AUTHORITY": "http://id.example.com/t", "TASKS_POLICIES": "p", "TASKS_CLIENT_ID": "c"]
        #expect(try Self.run(["check"], settings).end == .exit(78))
        let allowed = settings.merging(["TASKS_ALLOW_HTTP_AUTHORITY": "true"]) { $1 }
        #expect(try Self.run(["--print-settings"], allowed).end == .exit(0))
    }
}
