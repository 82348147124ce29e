import Glibc
import Platform
import Support
import Testing

@Suite("A server reloads at SIGHUP what can change while it runs") struct ReloadTests {
    /// Sends SIGHUP, and waits for one more line of this event.
    private func reload(_ server: Server, _ event: String) throws {
        let mark = "\"event\":\"\(event)\""
        let count = { (output: String) in output.split(separator: "\n").filter { $0.contains(mark) }.count }
        let before = count(server.process.output)
        server.process.send(SIGHUP)
        _ = try server.process.await { count($0) > before ? true : nil }
    }

    @Test func `New connections get the new certificate, and a pair that does not match changes nothing`() throws {
        let stage = try Stage()
        let settings = try stage.makeCertificate()
        let files = ["pem", "key"].map { "\(stage.folder)/tls.\($0)" }
        let first = try files.map { try File.read($0) }
        _ = try stage.makeCertificate()
        let later = try files.map { try File.read($0) }
        let trusted = ["\(stage.folder)/first.pem", "\(stage.folder)/second.pem"]
        for (path, bytes) in zip(trusted, [first[0], later[0]]) { try File.replace(path, with: bytes) }
        for (path, bytes) in zip(files, first) { try File.replace(path, with: bytes) }
        let server = try Server(
            stage.start(settings.merging(["TASKS_LISTEN": "127.0.0.1:0,127.0.0.1:\(freePort())"]) { $1 }))
        let second = try #require(Stage.port(after: ",127.0.0.1:", in: server.process.output))
        let addresses = [server.port, second].map { "https://127.0.0.1:\($0)/healthz" }
        for address in addresses { #expect(try curl(address, trusting: trusted[0]) == "alive\n") }
        try File.replace(files[0], with: later[0])
        try reload(server, "certificate-not-reloaded")
        #expect(server.process.output.contains("is not the key to the certificate in"), "\(server.process.output)")
        #expect(try curl(addresses[0], trusting: trusted[0]) == "alive\n")
        try File.replace(files[1], with: later[1])
        try reload(server, "certificate-reloaded")
        for address in addresses {
            #expect(try curl(address, trusting: trusted[1]) == "alive\n")
            #expect(throws: ChildProcess.Failure.self) { try curl(address, trusting: trusted[0]) }
        }
        // The files are those that the server has: nothing is renewed.
        try reload(server, "keys-refresh")
        #expect(server.process.output.split(separator: "\n").count { $0.contains("\"certificate-reloaded\"") } == 1)
        try File.replace(files[0], with: Array("no certificate".utf8))
        try reload(server, "certificate-not-reloaded")
        #expect(try curl(addresses[0], trusting: trusted[1]) == "alive\n")
        #expect(try server.stop() == .exit(0))
    }

    @Test func `Files with the log level and the distrusted keys are read at the start, and again (V-97)`() throws {
        let stage = try Stage()
        let (level, keys) = ("\(stage.folder)/level", "\(stage.folder)/keys")
        try File.replace(level, with: Array("info\n".utf8))
        let published = try exchange(stage.mockPort, "GET", "/\(Stage.tenant)/b2c_1_sign_in/discovery/v2.0/keys").text
        let identifier = try #require(published.split(separator: "\"").dropFirst(5).first)
        // Another key, with which the server becomes ready; tokens are still signed with the first.
        try stage.keys("publish")
        try File.replace(keys, with: Array(identifier.utf8))
        let server = try stage.server(["TASKS_LOG_LEVEL_FILE": level, "TASKS_DISTRUSTED_KEYS_FILE": keys])
        let token = try stage.token()
        #expect(try server.ask("GET", "/api/tasks", token: token).status == 401)
        try File.replace(keys, with: [])
        try eventuallyBlocking("the key is trusted") {
            // Keys are fetched for a signal once in five seconds.
            try reload(server, "settings-reloaded")
            return try server.ask("GET", "/api/tasks", token: token).status == 200
        }
        let stream = try server.stream(token: token)
        _ = try stream.read(to: "\n\n")
        try File.replace(keys, with: Array("another\n\(identifier)\n".utf8))
        try reload(server, "settings-reloaded")
        #expect(server.process.output.contains(#""logLevel":"info","distrustedKeys":2"#))
        // The stream ends at once (V-110).
        #expect(try stream.read(to: "}\n\n").contains(#"event: end\#ndata: {"reason":"token.invalid"}"#))
        #expect(try server.ask("GET", "/api/tasks", token: token).status == 401)
        try File.replace(level, with: Array("loud".utf8))
        try reload(server, "settings-not-reloaded")
        #expect(server.process.output.contains("TASKS_LOG_LEVEL_FILE: 'loud' is not one of debug"))
        try File.replace(level, with: Array("error".utf8))
        server.process.send(SIGHUP)
        try eventuallyBlocking("requests are no longer logged") {
            let identifier = try server.ask("GET", "/api/tasks").headers["X-Request-Id"] ?? ""
            usleep(50_000)
            return !server.process.output.contains(identifier)
        }
        #expect(try server.stop() == .exit(0))
        #expect(server.process.output.contains("unknown_kid"))
    }

    @Test func `A setting that needs a restart is named`() throws {
        let stage = try Stage()
        let database = "\(stage.folder)/database"
        try File.replace(database, with: Array(stage.settings["TASKS_DATABASE", default: ""].utf8))
        let server = try stage.server(["TASKS_DATABASE": "", "TASKS_DATABASE_FILE": database])
        try File.replace(database, with: Array("sqlite:\(stage.folder)/other.db".utf8))
        try reload(server, "restart-needed")
        #expect(server.process.output.contains(#""restart-needed","setting":"TASKS_DATABASE""#))
        #expect(try server.stop() == .exit(0))
    }
}
