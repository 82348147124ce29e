import HTTP
import JSON
import Support
import TaskAPI
import Tasks
import Testing

@Suite("The changes of a list")
struct ChangesTests {
    private func ask(_ api: TestedAPI, _ query: String = "", as token: String = "alice") async throws -> JSONValue {
        let answer = try await api.send("GET", "/api/tasks/changes\(query)", as: token)
        #expect(answer.status == 200 && answer.headers["Content-Type"] == "application/json; charset=utf-8")
        return try JSONValue(parsing: answer.body)
    }

    private let asJSON = [("Accept", "application/json")]

    @Test(arguments: Transport.allCases)
    func `Begin with the whole list, and go on in pages after next`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let start = try await ask(api)
        #expect(start["changed"] == [] && start["removed"] == [] && start["more"] == false)
        for text in ["a", "b", "c"] { _ = try await api.send("POST", "/api/tasks", as: "alice", [], "task=\(text)") }
        let list = try JSONValue(parsing: try await api.send("GET", "/api/tasks", as: "alice").body).array ?? []
        let next = try #require(start["next"].string)
        let first = try await ask(api, "?limit=2&since=\(next)")
        #expect(first["changed"] == JSONValue.array(Array(list.prefix(2))) && first["more"] == true)
        let second = try await ask(api, "?limit=2&since=\(try #require(first["next"].string))")
        #expect(second["changed"] == JSONValue.array(Array(list.suffix(1))) && second["more"] == false)
        #expect(try await api.send("DELETE", "/api/tasks/2", as: "alice").status == 204)
        let third = try await ask(api, "?since=\(try #require(second["next"].string))")
        #expect(third["changed"] == [] && third["removed"] == [2])
        let last = "/api/tasks/changes?since=\(try #require(third["next"].string))"
        let answer = try await api.send("GET", last, as: "alice")
        let tag = try #require(answer.headers["ETag"])
        #expect(try await api.send("GET", last, as: "alice", [("If-None-Match", tag)]).status == 304)
        #expect(try await api.send("HEAD", last, as: "alice").body.isEmpty)
        #expect(try await api.send("POST", "/api/tasks/changes", as: "alice").status == 405)
    }

    @Test(arguments: Transport.allCases)
    func `A token that was not given to this person is refused`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        _ = try await api.send("POST", "/api/tasks", as: "bob", [], "task=x")
        let bobs = try #require(try await ask(api, as: "bob")["next"].string)
        let cut = String(bobs.dropLast())
        let changed = (bobs.hasPrefix("A") ? "B" : "A") + bobs.dropFirst()
        for (since, token) in [
            (bobs, "alice"), (cut, "bob"), (changed, "bob"), (bobs + "A", "bob"), ("", "bob"), ("made-up", "bob"),
            ("7", "bob"),
        ] {
            let answer = try await api.send("GET", "/api/tasks/changes?since=\(since)", as: token, asJSON)
            #expect(answer.status == 400 && answer.code == "request.query", "\(since)")
            #expect(answer.text.contains("since must be the next of an earlier answer"), "\(since)")
        }
        for query in ["limit=0", "limit=1001", "limit=x", "limit=", "limit=1&limit=1", "since=\(bobs)&since=\(bobs)"] {
            let answer = try await api.send("GET", "/api/tasks/changes?\(query)", as: "bob", asJSON)
            #expect(answer.status == 400 && answer.code == "request.query", "\(query)")
        }
    }

    @Test(arguments: Transport.allCases)
    func `A token from before what is forgotten is gone, and the answer says what to do`(
        transport: Transport
    ) async throws {
        let clock = ManualClock()
        let api = TestedAPI(transport) { $0.time = clock }
        for text in ["a", "b"] { _ = try await api.send("POST", "/api/tasks", as: "alice", [], "task=\(text)") }
        let next = try #require(try await ask(api)["next"].string)
        #expect(try await api.send("DELETE", "/api/tasks/1", as: "alice").status == 204)
        clock.advance(seconds: 30 * 86_400)
        #expect(try await api.send("DELETE", "/api/tasks/2", as: "alice").status == 204)
        let answer = try await api.send("GET", "/api/tasks/changes?since=\(next)", as: "alice", asJSON)
        #expect(answer.status == 410 && answer.code == "changes.forgotten")
        #expect(answer.text.contains("without since"))
        let again = try await ask(api)
        #expect(again["changed"] == [] && again["removed"] == [])
    }

    @Test func `A long page is the same in both forms`() async throws {
        let answers = AnswerMemory(limit: 1 << 20)
        let api = TestedAPI(.inProcess) { ($0.store, $0.answers) = (MemoryTaskStore(answers: answers), answers) }
        let text = String(repeating: "x", count: 4096)
        for _ in 0..<4 { _ = try await api.send("POST", "/api/tasks", as: "alice", [], "task=\(text)") }
        let plain = try await api.send("GET", "/api/tasks/changes", as: "alice")
        #expect(try JSONValue(parsing: plain.body)["changed"].array?.count == 4 && answers.statistics.held > 0)
        let gzip = try await api.send("GET", "/api/tasks/changes", as: "alice", [("Accept-Encoding", "gzip")])
        #expect(gzip.headers["Content-Encoding"] == "gzip" && gzip.body.count < 4096)
    }
}
