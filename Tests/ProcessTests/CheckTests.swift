import Glibc
import Platform
import Support
import Testing

@Suite("task-server check") struct CheckTests {
    @Test func `finds everything good, and changes nothing`() throws {
        let stage = try Stage()
        let (end, output, errors) = try stage.run(["check"])
        #expect(end == .exit(0) && errors == "")
        let lines = output.split(separator: "\n")
        #expect(lines.count == 7 && lines.allSatisfy { $0.hasPrefix("good ") }, "\(output)")
        #expect(try Folder.files(below: stage.folder) == [])
    }

    @Test func `finds everything good beside a server that runs`() throws {
        let stage = try Stage()
        let server = try stage.server()
        let (end, output, _) = try stage.run(["check"])
        #expect(end == .exit(0) && output.contains("is in use by a task-server that runs"), "\(output)")
        #expect(try server.stop() == .exit(0))
        #expect(try stage.run(["check"]).output.contains("can be read and written"))
    }

    @Test func `says that the address is missing where other machines reach the server`() throws {
        let stage = try Stage()
        let open = try stage.run(["check"], ["TASKS_LISTEN": "0.0.0.0:0"])
        #expect(open.end == .exit(0) && open.output.contains("TASKS_PUBLIC_URL is not set"), "\(open.output)")
        let named = try stage.run(
            ["check"], ["TASKS_LISTEN": "0.0.0.0:0", "TASKS_PUBLIC_URL": "https://tasks.example.com"])
        #expect(named.output.contains("good  address: clients reach the server at https://tasks.example.com\n"))
    }

    @Test func `says that the tenant is wrong, in one line`() throws {
        let stage = try Stage()
        try Self.expectOneWrongLine(
            stage, ["TASKS_AUTHORITY": "http://127.0.0.1:\(stage.mockPort)/fabrikam.onmicrosoft.com"], "authority")
    }

    @Test func `says that the authority is out of reach, in one line`() throws {
        let stage = try Stage()
        stage.mock.send(SIGTERM)
        #expect(try stage.mock.wait() == .exit(0))
        try Self.expectOneWrongLine(stage, [:], "authority")
    }

    @Test func `says that the database cannot be made, in one line`() throws {
        let stage = try Stage()
        let settings = ["TASKS_DATABASE": "sqlite:\(stage.folder)/nowhere/tasks.db", "TASKS_KEY_CACHE_FILE": "off"]
        try Self.expectOneWrongLine(stage, settings, "database: \(stage.folder)/nowhere/tasks.db")
    }

    @Test func `says that the database is none, in one line`() throws {
        let stage = try Stage()
        try File.replace(stage.database, with: Array(String(repeating: "no database ", count: 500).utf8))
        try Self.expectOneWrongLine(stage, [:], "is not a SQLite database")
    }

    /// With one policy, so that one thing that is wrong is one line.
    private static func expectOneWrongLine(
        _ stage: Stage, _ changes: [String: String], _ words: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        let settings = ["TASKS_POLICIES": "b2c_1_sign_in"].merging(changes) { $1 }
        let (end, output, errors) = try stage.run(["check"], settings)
        #expect(end == .exit(1) && errors == "", sourceLocation: location)
        let wrong = output.split(separator: "\n").filter { $0.hasPrefix("WRONG ") }
        #expect(wrong.count == 1, "\(output)", sourceLocation: location)
        #expect(wrong.first?.contains(words) == true, "\(output)", sourceLocation: location)
    }
}

@Suite("task-server explain-token") struct ExplainTokenTests {
    @Test func `goes through every check of a good token`() throws {
        let stage = try Stage()
        for input in [
            "\(try stage.token())\n", "Bearer \(try stage.token())", "Authorization: Bearer \(try stage.token())\r\n",
        ] {
            let (end, output, errors) = try stage.run(["explain-token"], input: input)
            #expect(end == .exit(0) && errors == "")
            let checks = output.split(separator: "\n").filter { $0.hasPrefix("passed ") }
            #expect(checks.count == 18 && output.contains("\nGood.\n"), "\(output)")
        }
    }

    @Test func `tells which scope is missing`() throws {
        let stage = try Stage()
        let settings = ["TASKS_READ_SCOPE": "tasks.read", "TASKS_WRITE_SCOPE": "tasks.write"]
        let token = try stage.token("user=alice@example.com&bad=no-scp")
        let (_, output, _) = try stage.run(["explain-token"], settings, input: token)
        #expect(output.contains("It may NOT read tasks (403): it does not carry the scope tasks.read."), "\(output)")
        let scoped = try stage.token("user=alice@example.com&scope=tasks.read%20tasks.write")
        let good = try stage.run(["explain-token"], settings, input: scoped)
        #expect(good.output.contains("It may change tasks: it carries the scope tasks.write."), "\(good.output)")
    }

    @Test func `agrees with the server on every bad token, and says why`() throws {
        let stage = try Stage()
        for entry in try stage.catalogue() {
            let token = try stage.token("user=alice@example.com&bad=\(entry.name)")
            let (end, output, _) = try stage.run(["explain-token"], ["TASKS_POLICIES": "b2c_1_sign_in"], input: token)
            #expect(end == .exit(entry.status == 200 ? 0 : 1), "\(entry.name): \(output)")
            #expect(output.contains("FAILED") == (entry.status != 200), "\(entry.name): \(output)")
            #expect(output.contains("\nRefused (") == (entry.status != 200), "\(entry.name): \(output)")
        }
    }

    @Test func `works with the keys that a server kept, while the authority is down`() throws {
        let stage = try Stage()
        let token = try stage.token()
        #expect(try stage.server().stop() == .exit(0))
        stage.mock.send(SIGTERM)
        _ = try stage.mock.wait()
        let (end, output, errors) = try stage.run(["explain-token"], input: token)
        #expect(end == .exit(0), "\(output)\(errors)")
        #expect(errors.contains("authority"))
    }

    @Test func `wants a token`() throws {
        let (end, _, errors) = try Stage().run(["explain-token"], input: " \n")
        #expect(end == .exit(1) && errors.contains("there is no token on standard input"))
    }
}
