import Basics
import Glibc
import JSON
import Platform
import SQLite
import SQLiteStore
import Support
import Testing

@testable import TaskServer

@Suite("The command task-server check") struct CheckTests {
    @Test func `A check of good settings finds everything good, and changes nothing`() throws {
        let stage = try Stage()
        let (end, output, errors) = try stage.run(["check"])
        #expect(end == .exit(0) && errors == "")
        let lines = output.split(separator: "\n")
        #expect(lines.count == 8 && lines.filter { $0.hasPrefix("good ") }.count == 7, "\(output)")
        let address = "\(stage.authority)/b2c_1_sign_in/v2.0/.well-known/openid-configuration"
        let issuer = "\(stage.issuer)/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/"
        let document =
            "good  authority, b2c_1_sign_in: \(address), issuer \(issuer) (on the host of the metadata), 1 RS256 key from "
            + "127.0.0.1, for tokens of the policy b2c_1_sign_in"
        #expect(lines.contains { $0 == document }, "\(document) in \(output)")
        let accepted =
            "open  authority: audience \(Stage.client), owners <oid>. No provider says whether such a client id"
        #expect(lines.contains { $0.hasPrefix(accepted) }, "\(output)")
        #expect(try Folder.files(below: stage.folder) == [])
    }

    @Test func `The mock prints commands that explain a token when they are pasted`() throws {
        let stage = try Stage()
        let lines = stage.mock.output.split(separator: "\n")
        let settings = try #require(lines.first { $0.contains("export TASKS_AUTHORITY=") })
        let command = try #require(lines.first { $0.hasSuffix(" | task-server explain-token") })
        let folder = ChildProcess.built("task-server").dropLast("/task-server".count)
        // The shell has no other settings.
        let shell = try ChildProcess("/bin/sh", ["-c", "PATH=\(folder):/usr/bin:/bin\n\(settings)\n\(command)"])
        #expect(try shell.wait() == .exit(0), "\(shell.errors)")
        #expect(shell.output.contains("\nGood."), "\(shell.output)")
    }

    @Test func `What works and is not as it was meant is a warning, and the check succeeds`() throws {
        let stage = try Stage()
        // A key for encryption beside the one for signatures, as Keycloak publishes it.
        let path = "/\(Stage.tenant)/b2c_1_sign_in/discovery/v2.0/keys"
        let keys = try exchange(stage.mockPort, "GET", path).text
        let other = keys.replacing("\"keys\":[", with: "\"keys\":[{\"kty\":\"RSA\",\"use\":\"enc\"},")
        let fault = JSONValue.object(["at": "keys", "times": 9, "status": 200, "body": .string(other)])
        #expect(try exchange(stage.mockPort, "POST", "/_mock/faults", body: fault.serialized()).status == 200)
        let unused = try stage.run(["check"], ["TASKS_POLICIES": "b2c_1_sign_in"])
        #expect(unused.end == .exit(0), "\(unused)")
        let line = "warn  authority, b2c_1_sign_in: a published key is not used: its use is not sig (kty RSA)"
        #expect(unused.output.split(separator: "\n").filter { $0 == line }.count == 1, "\(unused.output)")
    }

    @Test func `A page without files, an odd client id, a missing folder and a missing public address are named`()
        throws
    {
        let stage = try Stage()
        try Folder.createIfMissing("\(stage.folder)/empty")
        let odd = try stage.run(["check"], ["TASKS_CLIENT_ID": "my-app", "TASKS_PUBLIC": "\(stage.folder)/empty"])
        #expect(odd.end == .exit(0), "\(odd.output)")
        for line in ["page: 0 files; without index.html, ", "TASKS_CLIENT_ID: my-app is no GUID, "] {
            #expect(odd.output.split(separator: "\n").count { $0.hasPrefix("warn  \(line)") } == 1, "\(odd.output)")
        }
        let missing = try stage.run(["check"], ["TASKS_DATABASE": "sqlite:\(stage.folder)/nowhere/tasks.db"])
        let wrong = missing.output.split(separator: "\n").filter { $0.hasPrefix("WRONG ") }
        #expect(missing.end == .exit(1) && wrong.count == 2, "\(missing.output)")
        for line in wrong {
            #expect(line.contains(": there is no folder \(stage.folder)/nowhere/; make it, "))
            #expect(!line.contains("permission"))
        }
        let open = try stage.run(["check"], ["TASKS_LISTEN": "0.0.0.0:0"])
        #expect(open.end == .exit(0) && open.output.contains("TASKS_PUBLIC_URL is not set"), "\(open.output)")
        let named = try stage.run(
            ["check"], ["TASKS_LISTEN": "0.0.0.0:0", "TASKS_PUBLIC_URL": "https://tasks.example.com"])
        #expect(named.output.contains("good  address: clients reach the server at https://tasks.example.com\n"))
    }

    @Test func `A wrong tenant, an authority out of reach and a file that is no database are one line each`() throws {
        let stage = try Stage()
        try Self.expectOneWrongLine(
            stage, ["TASKS_AUTHORITY": "http://127.0.0.1:\(stage.mockPort)/fabrikam.onmicrosoft.com"], "authority")
        let settings = ["TASKS_DATABASE": "sqlite:\(stage.folder)/nowhere/tasks.db", "TASKS_KEY_CACHE_FILE": "off"]
        try Self.expectOneWrongLine(stage, settings, "database: \(stage.folder)/nowhere/tasks.db")
        try File.replace(stage.database, with: Array(String(repeating: "no database ", count: 500).utf8))
        try Self.expectOneWrongLine(stage, [:], "is not a SQLite database")
        File.remove(stage.database)
        stage.mock.send(SIGTERM)
        #expect(try stage.mock.wait() == .exit(0))
        try Self.expectOneWrongLine(stage, [:], "authority")
    }

    @Test func `A check does not bring an older database up to date, the next start does`() throws {
        let stage = try Stage()
        #expect(try stage.run(["migrate"]).end == .exit(0))
        let older = try Connection(path: stage.database, mode: .readWrite)
        let version = SQLiteSchema.known - 1
        for table in ["tasks", "attempts"] { try older.execute("ALTER TABLE \(table) DROP COLUMN repeat") }
        try older.execute("PRAGMA user_version = \(version)")
        let (end, output, _) = try stage.run(["check"])
        #expect(end == .exit(0), "\(output)")
        let line =
            "good  database: \(stage.database) can be read and written; tables will be brought up to date at the next start"
        #expect(output.split(separator: "\n").contains { $0 == line }, "\(output)")
        #expect(try older.integer("PRAGMA user_version") == Int64(version))
        _ = consume older
        #expect(try stage.server().stop() == .exit(0))
        let updated = try Connection(path: stage.database, mode: .readWrite)
        #expect(try updated.integer("PRAGMA user_version") == Int64(SQLiteSchema.known))
    }

    @Test func `A database that another program made, a newer one, or one that is damaged is one line`() throws {
        let stage = try Stage()
        #expect(try stage.run(["migrate"]).end == .exit(0))
        for (change, message) in [
            ("PRAGMA user_version = 99", "has version 99, written by a newer task-server"),
            ("PRAGMA user_version = \(SQLiteSchema.known); DROP TABLE attempts", "no such table"),
            ("PRAGMA application_id = 1", "belongs to another program"),
        ] {
            try Connection(path: stage.database, mode: .readWrite).execute(change)
            try Self.expectOneWrongLine(stage, [:], message)
        }
    }

    @Test func `An address that cannot be listened on is reported with the reason`() throws {
        let stage = try Stage()
        let port = try freePort()
        let (all, one) = ("0.0.0.0:\(port)", "127.0.0.1:\(port)")
        for (first, second) in [(all, one), (one, all)] {
            try Self.expectOneWrongLine(
                stage, ["TASKS_LISTEN": "\(first),\(second)"],
                "TASKS_LISTEN: \(second) and \(first) exclude each other; choose another port")
        }
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
        try Self.expectOneWrongLine(stage, other, "check the scheme and the port of the address (TASKS_AUTHORITY)")
    }

    /// Checks that `check` prints one wrong line, with one policy, because each policy has lines of its own.
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

@Suite("The command task-server explain-token") struct ExplainTokenTests {
    @Test func `A good token is shown decoded, with its owner, and an empty input is a missing token`() throws {
        let stage = try Stage()
        let (end, _, errors) = try stage.run(["explain-token"], input: " \n")
        #expect(end == .exit(1) && errors.contains("there is no token on standard input"))
        for input in [
            "\(try stage.token())\n", "Bearer \(try stage.token())", "Authorization: Bearer \(try stage.token())\r\n",
        ] {
            let (end, output, errors) = try stage.run(["explain-token"], input: input)
            #expect(end == .exit(0) && errors == "")
            #expect(
                output.hasPrefix("The source without a name, the only one; its issuer is \(stage.issuer)/"), "\(output)"
            )
            #expect(output.contains("\nHeader:\n") && output.contains("\n  alg: \"RS256\"  accepted: "), "\(output)")
            #expect(output.contains("\nGood. Its tasks belong to "), "\(output)")
        }
    }

    @Test func `Times are dates, and codes are those that problems.html explains`() throws {
        let stage = try Stage()
        let good = try stage.run(["explain-token"], input: try stage.token()).output
        let year = String(Timestamp(milliseconds: SystemTime().wallMilliseconds).text.prefix(4))
        let expiry = try #require(good.split(separator: "\n").first { $0.hasPrefix("  exp: ") })
        #expect(
            expiry.contains(" (\(year)-") && expiry.contains(" UTC, in 59 minutes)")
                || expiry.contains(" in 60 minutes)"), "\(good)")
        let (end, bad, _) = try stage.run(["explain-token"], input: stage.token("user=alice&bad=expired"))
        #expect(end == .exit(1) && bad.contains("\nSetting: TASKS_CLOCK_SKEW"), "\(bad)")
        #expect(bad.contains("UTC, 60 minutes ago)") || bad.contains("UTC, 61 minutes ago)"), "\(bad)")
        #expect(bad.contains("\nRefused (token.expired, expired): "), "\(bad)")
        #expect(bad.contains("/problems.html#token.expired"), "\(bad)")
    }

    @Test func `Times of tokens are told in the largest unit that says enough`() {
        let now: Int64 = 1_795_374_245
        for (moment, text) in [
            (now, "2026-11-22 19:04:05 UTC, now"), (now - 1, "2026-11-22 19:04:04 UTC, 1 second ago"),
            (now + 120, "2026-11-22 19:06:05 UTC, in 2 minutes"), (now - 7200, "2026-11-22 17:04:05 UTC, 2 hours ago"),
            (now + 172_800, "2026-11-24 19:04:05 UTC, in 2 days"),
        ] {
            #expect(MomentText(moment: moment, now: now).text == text)
        }
        #expect(MomentText(moment: .max, now: -1).text.hasPrefix("9999-12-31 23:59:59 UTC, in "))
        #expect(MomentText(moment: .min, now: now).text.hasPrefix("0000-01-01 00:00:00 UTC, "))
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

    @Test func `A key that a server has not kept is fetched, and a kept one needs no authority (P-33)`() throws {
        let stage = try Stage()
        #expect(try stage.server().stop() == .exit(0))
        let old = try stage.token()
        try stage.keys("rotate")
        let token = try stage.token()
        let kept = try File.read(stage.database + ".keys")
        #expect(try stage.run(["explain-token"], input: token).end == .exit(0))
        #expect(try File.read(stage.database + ".keys") == kept, "the file belongs to the server")
        stage.mock.send(SIGTERM)
        _ = try stage.mock.wait()
        let (end, output, errors) = try stage.run(["explain-token"], input: token)
        #expect(end == .exit(1) && output.contains("unknown_kid") && errors.contains("authority"), "\(output)\(errors)")
        let known = try stage.run(["explain-token"], input: old)
        #expect(known.end == .exit(0) && known.errors == "", "fresh keys need no network: \(known)")
    }
}
