import Glibc
import JSON
import Platform
import Support
import Testing

@Suite("The program mock-authority") struct MockAuthorityProgramTests {
    /// Runs the program in an empty folder: client-settings reads the settings of a `make run` that runs in its folder.
    private static func run(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> ChildProcess.Outcome {
        let folder = try TemporaryFolder()
        let command = ["-c", #"cd "$0" && exec "$@""#, folder.path, ChildProcess.built("mock-authority")]
        let outcome = try ChildProcess("/bin/sh", command + arguments, environment: environment).outcome()
        return withExtendedLifetime(folder) { outcome }
    }

    @Test func `It prints its help and its version`() throws {
        let help = try Self.run(["--help"], ["MOCK_NONSENSE": "1"])
        #expect(help.end == .exit(0))
        for word in ["token --user", "MOCK_LISTEN", "--allow-remote", "client-settings", "--tls-listen"] {
            #expect(help.output.contains(word), "\(word)")
        }
        #expect(help.output.contains("300 to 86400 seconds"))
        let short = try Self.run(["--token-lifetime", "60"])
        #expect(short.end == .exit(78) && short.errors.contains("'60' is not a whole number from 300 to 86400"))
        let version = try Self.run(["--version"])
        #expect(version.end == .exit(0) && version.output.hasPrefix("mock-authority "))
    }

    @Test(
        "Each command explains itself, and a misspelt one is named",
        arguments: [
            ("token", "tokn"), ("probe", "prob"), ("client-settings", "client-setings"), ("health", "helth"),
        ])
    func commands(name: String, misspelt: String) throws {
        let (end, output, _) = try Self.run([name, "--help"])
        #expect(end == .exit(0) && output.contains("mock-authority \(name) "), "\(output)")
        #expect(!output.contains("--allow-remote"), "\(output)")
        let wrong = try Self.run([misspelt])
        #expect(wrong.end == .exit(78) && wrong.errors.contains("Did you mean \(name)?"), "\(wrong)")
    }

    @Test func `Wrong settings end it with 78 and all errors at once`() throws {
        let (end, output, errors) = try Self.run(
            ["--listen", "0.0.0.0:0", "--tls-listen", "127.0.0.1:0", "--era=2050", "--laxx"])
        #expect(end == .exit(78) && output == "")
        for message in ["Add --allow-remote", "--tls-listen needs --state", "--era: '2050'", "--laxx"] {
            #expect(errors.contains(message), "\(message)")
        }
        let remote = try Self.run(["--tls-listen", "0.0.0.0:0", "--state", "/nowhere", "--listen", "127.0.0.1:0"])
        #expect(remote.end == .exit(78) && remote.errors.contains("0.0.0.0:0 is not the loopback"))
        #expect(try Self.run(["dance"]).end == .exit(78))
        #expect(try Self.run(["--config", "/nowhere/mock.json", "--listen", "127.0.0.1:0"]).end == .exit(78))
    }

    @Test func `A variable that is no setting is a warning, since tests have such`() throws {
        let stage = try Stage(["MOCK_LAXX": "true", "MOCK_SERVER_URL": "http://localhost:1"])
        for warning in [
            "MOCK_LAXX is no setting of this program. Did you mean MOCK_LAX?", "MOCK_SERVER_URL is no setting",
        ] {
            #expect(stage.mock.errors.contains("mock-authority: \(warning)"), "\(stage.mock.errors)")
        }
        let settings = try stage.run(["check"], ["TASKS_SERVER_URL": "x"])
        #expect(settings.end == .exit(78), "\(settings)")
    }

    @Test(arguments: ["127.0.0.12", "[::1]"])
    func `Every address that is printed is bound, and the certificate is for it`(host: String) throws {
        let folder = try TemporaryFolder()
        let flags = ["--listen", "\(host):0", "--tls-listen", "\(host):0", "--state", folder.path, "--print-ready"]
        let mock = try ChildProcess(ChildProcess.built("mock-authority"), flags)
        _ = try mock.await { $0.contains("NODE_EXTRA_CA_CERTS") ? true : nil }
        let ready = try JSONValue(parsing: Array(try #require(mock.output.split(separator: "\n").first).utf8))
        let addresses = ready["addresses"].array?.compactMap(\.string) ?? []
        let shown = host == "127.0.0.12" ? host : "localhost"
        #expect(addresses.count == 2 && addresses[0].hasPrefix("http://\(host):"), "\(mock.output)")
        #expect(addresses.last?.hasPrefix("https://\(shown):") == true, "\(mock.output)")
        let text = mock.output.split(separator: "\n").dropFirst().joined(separator: " ")
        let urls = text.split { " '=,".contains($0) }.filter { $0.hasPrefix("http") }
        #expect(urls.count > 5)
        for url in urls { #expect(addresses.contains(where: url.hasPrefix), "\(url)") }
        for address in addresses {
            _ = try curl("\(address)\(Self.metadata)", trusting: folder.file("ca.pem"))
        }
    }

    @Test func `The first line of --print-ready has what a test needs, and tokens are signed at once`() throws {
        let stage = try Stage()
        let mock = try ChildProcess(
            ChildProcess.built("mock-authority"), ["--listen", "127.0.0.1:0", "--print-ready"])
        let line = try mock.await { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first }
        let ready = try JSONValue(parsing: Array(line.utf8))
        let address = try #require(ready["address"].string)
        #expect(ready["addresses"] == [.string(address)] && ready["ca"] == .null)
        #expect(ready["controls"].string == "\(address)/_mock")
        let users = ready["users"].array ?? []
        #expect(users.map { $0["email"].string } == ["alice@example.com", "bob@example.com"])
        #expect(users.first?["password"].string == "Passw0rd!")
        #expect(ready["clients"].array?.first?["id"].string == Stage.client)
        let tenants = ready["tenants"].array ?? []
        #expect(tenants.map { $0["profile"].string } == ["b2c", "external-id", "entra", "entra"])
        for tenant in [ready] + tenants {
            let metadata = try JSONValue(parsing: Array(try curl(try #require(tenant["metadata"].string)).utf8))
            #expect(metadata["issuer"] == tenant["issuer"] && metadata["jwks_uri"] == tenant["keys"], "\(tenant)")
        }
        mock.send(SIGTERM)
        #expect(try mock.wait() == .exit(0))
        #expect(!stage.mock.output.hasPrefix("{"))
        let strict = try ChildProcess(
            ChildProcess.built("mock-authority"), ["--listen=127.0.0.1:0", "--print-ready", "--persona=strict"])
        let first = try strict.await { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first }
        let provider = try JSONValue(parsing: Array(first.utf8))
        let metadata = try JSONValue(parsing: Array(try curl(try #require(provider["metadata"].string)).utf8))
        #expect(metadata["issuer"] == provider["issuer"] && metadata["jwks_uri"] == provider["keys"], "\(provider)")
    }

    @Test func `The image's health check asks the program that runs, with its flags`() throws {
        let dockerfile = String(decoding: try TestFile("../../Dockerfile").bytes(), as: UTF8.self)
        let line = try #require(dockerfile.split(separator: "\n").first { $0.hasPrefix("HEALTHCHECK") })
        let words = try JSONValue(parsing: Array(line.drop { $0 != "[" }.utf8)).array?.compactMap(\.string) ?? []
        let mock = ChildProcess.built("mock-authority")
        let path = "\(mock.dropLast("/mock-authority".count)):/usr/bin:/bin"
        func check(_ process: Int32, tasks: UInt16 = 1) throws -> ChildProcess.Outcome {
            let script = try #require(words.last).replacing("/proc/1/", with: "/proc/\(process)/")
            let command = ["PATH=\(path)", "TASKS_LISTEN=127.0.0.1:\(tasks)"] + words.dropLast() + [script]
            return try ChildProcess("/usr/bin/env", command).outcome()
        }
        let port = try freePort()
        let program = try ChildProcess(mock, ["--listen", "127.0.0.1:\(port)"])
        _ = try program.await { Stage.port(after: "http://127.0.0.1:", in: $0) }
        #expect(try check(program.identifier).output == "alive\n")
        // A shell is no program whose flags could be asked, and is not started again.
        let shell = try ChildProcess("/bin/sh", ["-c", "sleep 600; true"])
        let unknown = try check(shell.identifier)
        #expect(unknown.end != .exit(0) && unknown.errors.contains("127.0.0.1:1"), "\(unknown)")
        let stage = try Stage()
        let server = try stage.server()
        let alive = try check(shell.identifier, tasks: server.port)
        #expect(alive.end == .exit(0) && alive.output == "alive\n", "\(alive)")
    }

    @Test func `With --end-with-input it ends when its input does, as when the host of the tests is killed`() throws {
        let script = #"sleep 600 | exec "$0" --listen 127.0.0.1:0 --end-with-input"#
        let shell = try ChildProcess("/bin/sh", ["-c", script, ChildProcess.built("mock-authority")])
        let port = try shell.await { Stage.port(after: "http://127.0.0.1:", in: $0) }
        #expect(try exchange(port, "GET", "/_mock/keys").status == 200)
        // The program that holds the other end is killed, and closes nothing itself.
        try ChildProcess.run(script: "pkill -KILL -P \(shell.identifier) sleep")
        #expect(try shell.wait() == .exit(0))
        #expect(throws: (any Error).self) { try RawClient(port: port) }
    }

    @Test func `A server uses it over https, while old clients use http`() throws {
        let folder = try TemporaryFolder()
        let stage = try Stage(["MOCK_STATE": folder.path, "MOCK_TLS_LISTEN": "127.0.0.1:0"])
        let port = try stage.mock.await { Stage.port(after: "and on https://localhost:", in: $0) }
        let secure = "https://localhost:\(port)/\(Stage.tenant)"
        // The mock prints these settings at its start.
        #expect(stage.mock.output.contains("export TASKS_AUTHORITY=\(secure) TASKS_CA_FILE="), "\(stage.mock.output)")
        let settings = ["TASKS_AUTHORITY": secure, "TASKS_CA_FILE": folder.file("ca.pem"), "TASKS_DATABASE": "memory:"]
        let checked = try stage.run(["check"], settings)
        #expect(checked.end == .exit(0), "\(checked.output)")
        let token = try stage.token()
        let plain = try stage.server(["TASKS_DATABASE": "memory:"])
        let server = try stage.server(settings)
        for each in [server, plain] {
            #expect(try each.ask("GET", "/api/tasks", token: token).status == 200)
            #expect(try each.stop() == .exit(0))
        }
        // A document that is fetched over https has links to https, and one over http has links to http.
        let document = try curl("https://localhost:\(port)\(Self.metadata)", trusting: folder.file("ca.pem"))
        let overTLS = try JSONValue(parsing: Array(document.utf8))
        let overHTTP = try JSONValue(parsing: exchange(stage.mockPort, "GET", Self.metadata).body)
        for name in ["authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint"] {
            #expect(overTLS[name].string?.hasPrefix("\(secure)/") == true, "\(name)")
            #expect(overHTTP[name].string?.hasPrefix("\(stage.issuer)/") == true, "\(name)")
        }
        #expect(overTLS["issuer"] == overHTTP["issuer"])
        // MSAL.js from 5.10 on and MSAL Node take only an issuer of the origin that they know as the authority.
        #expect(overTLS["issuer"].string?.hasPrefix("https://localhost:\(port)/") == true)
        // The page for developers names the port that the system chose.
        let page = try exchange(stage.mockPort, "GET", "/_mock/registration").text
        #expect(page.contains("https://localhost:\(port)/") && !page.contains("localhost:0"), "\(page)")
    }

    @Test func `With --public-url all that is printed names that address`() throws {
        let stage = try Stage(["MOCK_PUBLIC_URL": "https://Auth.example.com:443/"])
        #expect(stage.mock.output.contains("export B2C_AUTHORITY=https://auth.example.com/\(Stage.tenant)\n"))
        let client = try Self.run(
            ["client-settings", "--for", "msal-js"], ["MOCK_PUBLIC_URL": "https://auth.example.com"])
        #expect(client.output.contains("\"https://auth.example.com/\(Stage.tenant)/"), "\(client)")
        #expect(client.output.contains("trust the certificate of auth.example.com.\n"), "\(client)")
        let path = try Self.run(["--public-url", "https://example.com/auth"])
        #expect(path.end == .exit(78) && path.errors.contains("without a path"))
    }

    @Test func `The command token prints a token of the running mock`() throws {
        let stage = try Stage()
        let authority = ["MOCK_AUTHORITY": "http://127.0.0.1:\(stage.mockPort)"]
        let (end, output, _) = try Self.run(
            ["token", "--user", "alice", "--scope=tasks.read", "--claim", "name=A B"], authority)
        #expect(end == .exit(0))
        #expect(output.split(separator: ".").count == 3 && output.hasSuffix("\n"))
        let unknown = try Self.run(["token", "--user", "carol"], authority)
        #expect(unknown.end == .exit(1) && unknown.errors.contains("alice@example.com"))
        #expect(try Self.run(["token", "--usr", "alice"], authority).end == .exit(78))
        let unreachable = try Self.run(["token", "--user", "alice", "--authority", "http://127.0.0.1:1"])
        #expect(unreachable.end == .exit(69) && unreachable.errors.contains("Is mock-authority running"))
    }

    @Test func `The variable of the command token does not stop the other commands`() throws {
        let stage = try Stage()
        let settings = ["MOCK_AUTHORITY": stage.issuer, "MOCK_LISTEN": "127.0.0.1:\(stage.mockPort)"]
        let folder = try TemporaryFolder()
        for command in [
            ["health"], ["client-settings", "--for", "curl"], ["token", "--user", "alice", "--state", folder.path],
        ] {
            let (end, _, errors) = try Self.run(command, settings)
            #expect(end == .exit(0), "\(command[0]): \(errors)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `A command that waits for an answer is ended by a signal`(signal: Int32)
        throws
    {
        let (listener, port) = try listenOnLoopback()
        defer { close(listener) }
        let address = "127.0.0.1:\(port)"
        for command in [
            ["token", "--user", "alice", "--authority", "http://\(address)"], ["health", "--listen", address],
        ] {
            let program = try ChildProcess(ChildProcess.built("mock-authority"), command)
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            #expect(poll(&waiting, 1, 60_000) == 1)
            let accepted = accept(listener, nil, nil)
            defer { close(accepted) }
            program.send(signal)
            #expect(try program.wait() == .signal(signal), "\(command[0])")
        }
    }

    @Test func `A token from the keys of a state folder is accepted by servers of its authority`() throws {
        let folder = try TemporaryFolder()
        let first = try Self.run(["token", "--state", folder.path, "--user", "alice", "--issuer=http://mock.test"])
        #expect(first.end == .exit(0) && first.output.split(separator: ".").count == 3, "\(first.errors)")
        let stage = try Stage(["MOCK_STATE": folder.path])
        let server = try stage.server()
        let token = try Self.run(["token", "--user=bob", "--state", folder.path, "--issuer", stage.issuer])
        let compact = String(token.output.dropLast())
        #expect(try server.ask("GET", "/api/tasks", token: compact).status == 200)
        let stranger = String(first.output.dropLast())
        #expect(try server.ask("GET", "/api/tasks", token: stranger).status == 401)
        #expect(try Self.run(["token", "--user", "carol", "--state", folder.path]).end == .exit(1))
        #expect(try Self.run(["token", "--user", "alice", "--stat", folder.path]).end == .exit(78))
    }

    @Test func `The first request after the port opens gets the answer it asked for`() throws {
        for start in 1...(isSanitized ? 6 : 10) {
            let port = UInt16(try freePort())
            let mock = try ChildProcess(
                ChildProcess.built("mock-authority"), environment: ["MOCK_LISTEN": "127.0.0.1:\(port)"])
            let client = try firstConnection(to: port)
            try client.send("GET \(Self.metadata) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            let response = try client.response()
            #expect(response?.status == 200, "start \(start): \(response?.status ?? 0)")
            mock.send(start.isMultiple(of: 2) ? SIGINT : SIGTERM)
            #expect(try mock.wait() == .exit(0))
        }
    }

    @Test func `The https port and ca.pem are ready when the http port is`() throws {
        let folder = try TemporaryFolder()
        // The first start makes the keys, the second finds them.
        for start in 1...2 {
            let (port, securePort) = (UInt16(try freePort()), UInt16(try freePort()))
            let mock = try ChildProcess(
                ChildProcess.built("mock-authority"),
                environment: [
                    "MOCK_LISTEN": "127.0.0.1:\(port)", "MOCK_TLS_LISTEN": "127.0.0.1:\(securePort)",
                    "MOCK_STATE": folder.path,
                ])
            _ = try firstConnection(to: port)
            #expect(throws: Never.self, "start \(start): https") { try RawClient(port: securePort) }
            #expect(throws: Never.self, "start \(start): ca.pem") { try File.read(folder.file("ca.pem")) }
            _ = try curl("https://localhost:\(securePort)\(Self.metadata)", trusting: folder.file("ca.pem"))
            mock.send(SIGTERM)
            #expect(try mock.wait() == .exit(0))
        }
    }

    private static let metadata = "/\(Stage.tenant)/b2c_1_sign_in/v2.0/.well-known/openid-configuration"

    @Test func `A fault can close the connection in place of a response`() throws {
        let stage = try Stage()
        let target = Self.metadata
        let whole = try exchange(stage.mockPort, "GET", target).body
        let fault = Array("{\"at\":\"metadata\",\"cut\":true}".utf8)
        #expect(try exchange(stage.mockPort, "POST", "/_mock/faults", body: fault).status == 200)
        let client = try RawClient(port: stage.mockPort)
        try client.send(Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(stage.mockPort)\r\n\r\n".utf8))
        #expect(try client.rest().isEmpty)
        #expect(try exchange(stage.mockPort, "GET", target).body == whole)
    }

    @Test func `A taken port is reported`() throws {
        let stage = try Stage()
        let (end, _, errors) = try Self.run(["--listen", "127.0.0.1:\(stage.mockPort)"])
        #expect(end == .exit(69) && errors.contains("another program listens there"))
    }

    /// The settings of libraries for your own API or client, each with a text that it must print at 127.0.0.1:8443.
    private static let libraries = [
        "jwtbearer":
            "= \"https://localhost:8443/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/.well-known/openid-configuration\"",
        "identity-web":
            #""https://localhost:8443/", "TenantId": "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a", "ClientId": "1e9f8d7c"#,
        "spring": "issuer-uri=https://localhost:8443/tfp/775527ff-9a37-4307-8b3d-cc311f58d925/b2c_1_sign_in/v2.0/\n",
        "msal-node": #"/contoso.onmicrosoft.com/b2c_1_sign_in", knownAuthorities: ["localhost:8443"]"#,
        "msal-go": "WithAuthority(\"https://localhost:8443/contoso.onmicrosoft.com/b2c_1_sign_in\")",
        "msal4j": "b2cAuthority(\"https://localhost:8443/tfp/contoso.onmicrosoft.com/b2c_1_sign_in/\")",
        "msal-net": "WithB2CAuthority(\"https://localhost:8443/tfp/contoso.onmicrosoft.com/b2c_1_sign_in\")",
    ]

    @Test func `The command client-settings prints the settings of libraries`() throws {
        let listen = ["--tls-listen", "127.0.0.1:8443", "--state", "/nowhere"]
        for (kind, text) in Self.libraries {
            let printed = try Self.run(["client-settings", "--for", kind] + listen).output
            #expect(printed.contains(text), "\(kind): \(printed)")
            #expect(printed.contains("/nowhere/ca.pem") == kind.hasPrefix("msal"))
        }
    }

    /// test_client_settings.py reads what is printed for each sample.
    @Test func `The command client-settings knows each client`() throws {
        let page = try Self.run(
            ["client-settings", "--for", "page", "--tls-listen", "127.0.0.1:8443", "--state", "/nowhere"])
        #expect(page.output.hasPrefix("TASKS_CA_FILE=/nowhere/ca.pem\nTASKS_AUTHORITY=https://localhost:8443/"))
        let unnamed = try Self.run(["client-settings"])
        #expect(unnamed.end == .exit(78))
        let kinds = try #require(unnamed.errors.split(separator: "one of ").last).dropLast(2).split(separator: ", ")
        #expect(kinds.count == 15 + Self.libraries.count)
        for kind in kinds {
            let each = try Self.run(["client-settings", "--for", String(kind)])
            let namesTasks =
                !["page", "msal-android", "msal-external-id-android"].contains(kind)
                && Self.libraries[String(kind)] == nil
            #expect(each.end == .exit(0) && each.output.contains(":3000") == namesTasks, "\(kind): \(each)")
            // A value that has no place is left as `@name@`; addresses have one `@`.
            #expect(each.output.count { $0 == "@" } <= 1, "\(kind): \(each)")
            guard ["msal", "msal-js", "msal-external-id", "msal-external-id-js"].contains(kind) else { continue }
            // MSAL needs https, also while the mock serves none.
            let authority = try #require(each.output.split(separator: "\n").first { $0.contains("authority") })
            #expect(authority.contains("https://") && authority.contains(":8443/"), "\(each)")
            let redirect = #"redirectUri: "http://localhost:5173/redirect.html""#
            #expect(each.output.contains(redirect) == kind.hasSuffix("-js"), "\(each)")
        }
    }

    @Test func `The command client-settings prints settings for MSAL at an External ID tenant`() throws {
        let api = "api://8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f/Tasks.Read"
        let id = "4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b"
        func settings(_ kind: String, port: Int) throws -> String {
            let listen = ["--tls-listen", "127.0.0.1:\(port)", "--state", "/nowhere"]
            return try Self.run(["client-settings", "--for", "msal-external-id\(kind)"] + listen).output
        }
        let python = try settings("", port: 8443)
        #expect(python.contains(#"authority="https://contoso.ciamlogin.com:8443/""#) && python.contains("\"\(api)\""))
        #expect(python.contains("127.0.0.1 contoso.ciamlogin.com \(id).ciamlogin.com"))
        #expect(python.contains("trust /nowhere/ca.pem"))
        // MSAL.js compares host and port, and test_msal_js.py uses what is printed for another port.
        #expect(try settings("-js", port: 443).contains(#"authority: "https://contoso.ciamlogin.com/""#))
        let android = try JSONValue(parsing: Array(try settings("-android", port: 443).utf8)).object
        let authority = android?["authorities"]?.array?.first?.object
        #expect(authority?["type"] == "CIAM")
        #expect(authority?["authority_url"] == "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/")
        #expect(try settings("-ios", port: 443).contains("MSALCIAMAuthority(url: URL(string: \"https://contoso.ciam"))
    }

    @Test(arguments: ["token --user alice", "probe http://127.0.0.1:1/api", "client-settings --for curl"])
    func `Commands find the mock of make run`(command: String) throws {
        let folder = try TemporaryFolder()
        try Folder.createIfMissing("\(folder.path)/state")
        // Nothing listens there, and a message names the address that was asked.
        let run = "MOCK_LISTEN=127.0.0.1:9\nMOCK_TASKS_URL=http://localhost:4000\nTASKS_LISTEN=unused\n"
        try File.replace("\(folder.path)/state/run.env", with: Array(run.utf8))
        let script = "cd \"$1\" && exec \"$0\" \(command)"
        let prints = command.hasPrefix("client-settings")
        let other = prints ? ["MOCK_LISTEN": "127.0.0.1:7"] : ["MOCK_AUTHORITY": "http://127.0.0.1:7"]
        for (environment, port) in [([:], 9), (other, 7)] {
            let shell = try ChildProcess(
                "/bin/sh", ["-c", script, ChildProcess.built("mock-authority"), folder.path], environment: environment)
            #expect(try (shell.wait() == .exit(0)) == prints)
            let said = prints ? shell.output : shell.errors
            #expect(said.contains("http://127.0.0.1:\(port)\(prints ? "/_mock/token" : ": ")"), "\(said)")
            #expect(said.contains(" http://localhost:4000/api/tasks") == prints, "\(said)")
        }
    }
}
