import Glibc
import Support
import Testing

@Suite("A server and its authority") struct AuthorityTests {
    @Test func `Tokens keep working while the authority is away, also after a restart of the server`() throws {
        let stage = try Stage()
        let token = try stage.token()
        let another = try stage.token("user=bob@example.com")
        let server = try stage.server()
        stage.mock.send(SIGTERM)
        #expect(try stage.mock.wait() == .exit(0))
        #expect(try server.add("Alone", token: token).status == 201)
        #expect(try server.stop() == .exit(0))
        let again = try stage.server()
        #expect(try again.texts(token: token) == ["Alone"])
        #expect(try again.texts(token: another) == [])
        let metrics = try exchange(again.adminPort, "GET", "/metrics").text
        #expect(metrics.contains("tasks_keys_state{state=\"stale\"} 1"))
    }

    @Test func `No byte of a token, a task or a name is in the log`() throws {
        let stage = try Stage()
        let server = try stage.server(["TASKS_LOG_LEVEL": "debug", "TASKS_ALLOW_QUERY_TOKEN": "true"])
        var tokens = [try stage.token()]
        for entry in try stage.catalogue() {
            tokens.append(try stage.token("user=alice@example.com&bad=\(entry.name)"))
        }
        for token in tokens {
            _ = try server.ask("GET", "/api/tasks", token: token)
            _ = try server.ask("GET", "/api/tasks?access_token=\(token)")
            _ = try server.ask("POST", "/api/tasks/someone/\(token.prefix(60))", token: token)
            _ = try? server.ask("GET", "/\(token.prefix(60))", ["Authorization": "Bearer \(token) \(token)"])
            _ = try? server.ask("GET", "/api/tasks", ["Authorization": token, "X": "\u{1}"])
        }
        #expect(try server.add("Most private words", token: tokens[0]).status == 201)
        #expect(try server.stop() == .exit(0))
        let log = Array((server.process.output + server.process.errors).utf8)
        #expect(log.count > 1000)
        let windows = Set(log.indices.dropLast(23).map { Array(log[$0..<$0 + 24]) })
        for token in tokens.map({ Array($0.utf8) }) {
            let leaked = token.indices.dropLast(23).first { windows.contains(Array(token[$0..<$0 + 24])) }
            #expect(leaked == nil)
        }
        for words in ["private words", "Alice", "alice", "a11ce000", Stage.client] {
            #expect(!String(decoding: log, as: UTF8.self).contains(words), "\(words)")
        }
    }
}
