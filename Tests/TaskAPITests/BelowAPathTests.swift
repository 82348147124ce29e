import HTTP
import JSON
import TaskAPI
import Testing

@Suite("A server that a proxy has put below a path")
struct BelowAPathTests {
    private let api = TestedAPI(.inProcess) {
        $0.publicAddress = "https://example.com/todo"
        $0.files = [
            "index.html": PublicFile(name: "index.html", bytes: Array("page".utf8)),
            "404.html": PublicFile(
                name: "404.html", bytes: Array("<a href=\"/\" title=\"a/b\"><img src=\"/x.png\">".utf8)),
        ]
    }

    @Test(arguments: ["", "/todo"])
    func `Every path is known with that path before it and without, as proxies pass it on or take it away`(
        before: String
    ) async throws {
        for path in ["/", "/healthz", "/config.json", "/index.html", "/.well-known/oauth-protected-resource"] {
            #expect(try await api.send("GET", before + path).status == 200, "\(path)")
        }
        #expect(try await api.send("GET", "\(before)/api/tasks").status == 401)
        #expect(try await api.send("GET", "/other\(before)/healthz").status == 404)
    }

    @Test func `Links in answers begin with that path`() async throws {
        let first = try await api.send("POST", "/api/tasks?task=b", as: "alice").headers["Location"]
        let second = try await api.send("POST", "/todo/api/tasks?task=c", as: "alice").headers["Location"]
        #expect(first == "/todo/api/tasks/1" && second == "/todo/api/tasks/2")
        let page = try await api.send("GET", "/api/tasks?limit=1", as: "alice")
        #expect(page.headers["Link"] == "</todo/api/tasks?limit=1&after=1>; rel=\"next\"")
        let problem = try await api.send("GET", "/api/tasks/9", as: "alice", [("Accept", "application/json")])
        let members = try JSONValue(parsing: problem.body).object
        #expect(members?["type"]?.string == "/todo/problems.html#task.not_found")
        let missing = try await api.send("GET", "/no/such/page", [("Accept", "text/html")]).text
        #expect(missing == "<a href=\"/todo/\" title=\"a/b\"><img src=\"/todo/x.png\">")
    }
}
