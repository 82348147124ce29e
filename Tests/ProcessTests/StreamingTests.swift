import Glibc
import Platform
import Support
import Testing

@Suite("The program streams changes")
struct StreamingTests {
    @Test func `A change at another server of the same database reaches a stream, which ends in order at a stop`()
        throws
    {
        let stage = try Stage()
        let database = [
            "TASKS_DATABASE": try PostgreSQLServer.started().newDatabase(), "TASKS_KEY_CACHE_FILE": "off",
        ]
        let (first, second) = (try stage.server(database), try stage.server(database))
        let token = try stage.token("user=alice")
        let client = try first.stream(token: token)
        #expect(try client.read(to: "\n\n").contains(#"{"changed":[],"removed":[]"#))
        for server in [second, first] {
            let text = "to \(server.port)"
            #expect(try server.add(text, token: token).status == 201)
            _ = try client.read(to: text)
        }
        #expect(try first.metric("tasks_streams_open") == 1)
        #expect(try first.stop() == .exit(0))
        _ = try client.read(to: "server.stopping")
        #expect(try second.stop() == .exit(0))
    }

    @Test func `A stream ends at once when its key is distrusted (V-97, V-110)`() throws {
        let stage = try Stage()
        let keys = "\(stage.folder)/keys"
        let published = try exchange(stage.mockPort, "GET", "/\(Stage.tenant)/b2c_1_sign_in/discovery/v2.0/keys").text
        let identifier = try #require(published.split(separator: "\"").dropFirst(5).first)
        // Another key, which goes on serving; tokens are still signed with the first.
        try stage.keys("publish")
        try File.replace(keys, with: [])
        let server = try stage.server(["TASKS_DISTRUSTED_KEYS_FILE": keys])
        let token = try stage.token("user=alice")
        let client = try server.stream(token: token)
        _ = try client.read(to: "\n\n")
        try File.replace(keys, with: Array(identifier.utf8))
        server.process.send(SIGHUP)
        #expect(try client.read(to: "}\n\n").contains(#"event: end\#ndata: {"reason":"token.invalid"}"#))
        #expect(try server.ask("GET", "/api/tasks", token: token).status == 401)
        #expect(try server.stop() == .exit(0))
    }
}
