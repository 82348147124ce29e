import Glibc
import Platform
import Support
import Testing

@Suite("The command task-server check", .timeLimit(.minutes(15))) struct CheckTests {
    @Test func `A check of good settings finds everything good, and changes nothing`() throws {
        let stage = try Stage()
        let (end, output, errors) = try stage.run(["check"])
        #expect(end == .exit(0) && errors == "")
        let lines = output.split(separator: "\n")
        #expect(lines.count == 7 && lines.allSatisfy { $0.hasPrefix("good ") }, "\(output)")
        #expect(try Folder.files(below: stage.folder) == [])
    }

    @Test func `A check finds everything good while a server runs`() throws {
        let stage = try Stage()
        let server = try stage.server()
        let (end, output, _) = try stage.run(["check"])
        #expect(end == .exit(0) && output.contains("is in use by a task-server that runs"), "\(output)")
        #expect(try server.stop() == .exit(0))
        #expect(try stage.run(["check"]).output.contains("can be read and written"))
    }

    @Test func `A missing public address is reported where other machines reach the server`() throws {
        let stage = try Stage()
        let open = try stage.run(["check"], ["TASKS_LISTEN": "0.0.0.0:0"])
        #expect(open.end == .exit(0) && open.output.contains("TASKS_PUBLIC_URL is not set"), "\(open.output)")
        let named = try stage.run(
            ["check"], ["TASKS_LISTEN": "0.0.0.0:0", "TASKS_PUBLIC_URL": "https://tasks.example.com"])
        #expect(named.output.contains("good  address: clients reach the server at https://tasks.example.com\n"))
    }

    @Test func `A wrong tenant is one line`() throws {
        let stage = try Stage()
        try Self.expectOneWrongLine(
            stage, ["TASKS_AUTHORITY": "http://127.0.0.1:\(stage.mockPort)/fabrikam.onmicrosoft.com"], "authority")
    }

    @Test func `An authority that is out of reach is one line`() throws {
        let stage = try Stage()
        stage.mock.send(SIGTERM)
        #expect(try stage.mock.wait() == .exit(0))
        try Self.expectOneWrongLine(stage, [:], "authority")
    }

    @Test func `A database that cannot be made is one line`() throws {
        let stage = try Stage()
        let settings = ["TASKS_DATABASE": "sqlite:\(stage.folder)/nowhere/tasks.db", "TASKS_KEY_CACHE_FILE": "off"]
        try Self.expectOneWrongLine(stage, settings, "database: \(stage.folder)/nowhere/tasks.db")
    }

    @Test func `A file that is no database is one line`() throws {
        let stage = try Stage()
        try File.replace(stage.database, with: Array(String(repeating: "no database ", count: 500).utf8))
        try Self.expectOneWrongLine(stage, [:], "is not a SQLite database")
    }

    @Test func `An address that cannot be listened on is reported with the reason`() throws {
        let stage = try Stage()
        let taken = "127.0.0.1:\(stage.mockPort)"
        try Self.expectOneWrongLine(
            stage, ["TASKS_LISTEN": taken], "TASKS_LISTEN: cannot listen on \(taken): another program listens there")
        try Self.expectOneWrongLine(stage, ["TASKS_LISTEN": "192.0.2.1:3000"], "this machine has no such address")
        let server = try stage.server()
        let same = ["TASKS_LISTEN": "127.0.0.1:\(server.port)", "TASKS_ADMIN_LISTEN": "127.0.0.1:\(server.adminPort)"]
        let running = try stage.run(["check"], same)
        #expect(running.end == .exit(0), "\(running.output)")
        for port in [server.port, server.adminPort] {
            #expect(running.output.contains("good  listen: 127.0.0.1:\(port) is in use by a task-server that runs"))
        }
        #expect(try server.stop() == .exit(0))
        #expect(try stage.run(["check"], same).output.contains("good  listen: 127.0.0.1:\(server.port) is free"))
        let twice = same.merging(["TASKS_ADMIN_LISTEN": "127.0.0.1:\(server.port)"]) { $1 }
        try Self.expectOneWrongLine(stage, twice, "TASKS_ADMIN_LISTEN: 127.0.0.1:\(server.port) is named twice")
    }

    @Test func `What cannot be a file, or cannot be read, is reported`() throws {
        let stage = try Stage()
        let folder = "\(stage.folder)/."
        #expect(mkfifo("\(stage.folder)/pipe", 0o600) == 0)
        for (path, kind) in [(folder, "a folder"), ("\(stage.folder)/pipe", "a pipe")] {
            let message = "\(path) is \(kind), not a file; name a file (TASKS_DATABASE)"
            try Self.expectOneWrongLine(
                stage, ["TASKS_DATABASE": "sqlite:\(path)", "TASKS_KEY_CACHE_FILE": "off"], message)
            try Self.expectOneWrongLine(stage, ["TASKS_KEY_CACHE_FILE": path], "TASKS_KEY_CACHE_FILE")
        }
        try Self.expectOneWrongLine(
            stage, ["TASKS_PUBLIC": "\(stage.folder)/nowhere"], "No such file or directory; name the folder of the page"
        )
        try Self.expectOneWrongLine(
            stage, ["TASKS_KEY_CACHE_FILE": "\(stage.folder)/nowhere/keys"], "check that its folder exists")
    }

    @Test func `A fault of the authority's TLS is reported with the setting to change`() throws {
        let folder = try TemporaryFolder()
        let stage = try Stage(["MOCK_STATE": folder.path, "MOCK_TLS_LISTEN": "127.0.0.1:0"])
        let port = try stage.mock.await { Stage.port(after: "and on https://localhost:", in: $0) }
        let secure = ["TASKS_AUTHORITY": "https://localhost:\(port)/\(Stage.tenant)"]
        try Self.expectOneWrongLine(stage, secure, "(TASKS_CA_FILE, TASKS_AUTHORITY)")
        for file in ["tls.key", "nowhere.pem"] {
            let wrong = secure.merging(["TASKS_CA_FILE": folder.file(file)]) { $1 }
            try Self.expectOneWrongLine(stage, wrong, "cannot read the CA file \(folder.file(file))")
        }
        let plain = ["TASKS_AUTHORITY": "https://127.0.0.1:\(stage.mockPort)/\(Stage.tenant)"]
        try Self.expectOneWrongLine(stage, plain, "at this port (TASKS_AUTHORITY)")
        let other = ["TASKS_AUTHORITY": "http://127.0.0.1:\(port)/\(Stage.tenant)"]
        try Self.expectOneWrongLine(stage, other, "see that scheme and port of the address are right (TASKS_AUTHORITY)")
    }

    /// With one policy, so that one thing that is wrong is one line.
    private static func expectOneWrongLine(
        _ stage: Stage, _ changes: [String: String], _ message: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        let settings = ["TASKS_POLICIES": "b2c_1_sign_in"].merging(changes) { $1 }
        let (end, output, errors) = try stage.run(["check"], settings)
        #expect(end == .exit(1) && errors == "", sourceLocation: location)
        let wrong = output.split(separator: "\n").filter { $0.hasPrefix("WRONG ") }
        #expect(wrong.count == 1, "\(output)", sourceLocation: location)
        #expect(wrong.first?.contains(message) == true, "\(output)", sourceLocation: location)
    }
}

@Suite("The command task-server explain-token", .timeLimit(.minutes(15))) struct ExplainTokenTests {
    @Test func `Every check of a good token is shown`() throws {
        let stage = try Stage()
        for input in [
            "\(try stage.token())\n", "Bearer \(try stage.token())", "Authorization: Bearer \(try stage.token())\r\n",
        ] {
            let (end, output, errors) = try stage.run(["explain-token"], input: input)
            #expect(end == .exit(0) && errors == "")
            let checks = output.split(separator: "\n").filter { $0.hasPrefix("passed ") }
            #expect(checks.count == 22 && output.contains("\nGood.\n"), "\(output)")
        }
    }

    @Test func `A missing scope is named`() throws {
        let stage = try Stage()
        let settings = ["TASKS_READ_SCOPE": "tasks.read", "TASKS_WRITE_SCOPE": "tasks.write"]
        let token = try stage.token("user=alice@example.com&bad=no-scp")
        let (_, output, _) = try stage.run(["explain-token"], settings, input: token)
        #expect(output.contains("It may NOT read tasks (403): it does not carry the scope tasks.read."), "\(output)")
        let scoped = try stage.token("user=alice@example.com&scope=tasks.read%20tasks.write")
        let good = try stage.run(["explain-token"], settings, input: scoped)
        #expect(good.output.contains("It may change tasks: it carries the scope tasks.write."), "\(good.output)")
    }

    @Test func `Every bad token has the result that the server has, with the reason`() throws {
        let stage = try Stage()
        for entry in try stage.catalogue() {
            let token = try stage.token("user=alice@example.com&bad=\(entry.name)")
            let (end, output, _) = try stage.run(["explain-token"], ["TASKS_POLICIES": "b2c_1_sign_in"], input: token)
            #expect(end == .exit(entry.status == 200 ? 0 : 1), "\(entry.name): \(output)")
            #expect(output.contains("FAILED") == (entry.status != 200), "\(entry.name): \(output)")
            #expect(output.contains("\nRefused (") == (entry.status != 200), "\(entry.name): \(output)")
        }
    }

    @Test func `The keys that a server kept are used while the authority is down`() throws {
        let stage = try Stage()
        let token = try stage.token()
        #expect(try stage.server().stop() == .exit(0))
        stage.mock.send(SIGTERM)
        _ = try stage.mock.wait()
        let (end, output, errors) = try stage.run(["explain-token"], input: token)
        #expect(end == .exit(0), "\(output)\(errors)")
        #expect(errors.contains("authority"))
    }

    @Test func `An empty input is reported as a missing token`() throws {
        let (end, _, errors) = try Stage().run(["explain-token"], input: " \n")
        #expect(end == .exit(1) && errors.contains("there is no token on standard input"))
    }
}
