import HTTP
import JSON
import Support
import TaskAPI
import Testing

/// What the sample clients send and read (by their sources) that the acceptance tests do not play.
@Suite("The sample clients, unchanged")
struct ClientTests {
    private func texts(_ response: Response) throws -> [String] {
        try #require(JSONValue(parsing: response.body).array).map {
            try #require($0.object?["task"]?.string)
        }
    }

    @Test(
        "Every error is text at the addresses of iOS with ADAL, which crashes on a JSON object in answer to a GET",
        arguments: Transport.allCases, ["", "/below"])
    func adalErrors(transport: Transport, base: String) async throws {
        let api = TestedAPI(transport) { $0.publicAddress = "https://tasks.example.com\(base)" }
        for token in ["outdated", "forged", "unverifiable"] {
            for path in ["/tasks", "/tasks:3000", "/todoserver/tasks", "/tasks/7", "//tasks/"] {
                for accept in [[], [("Accept", "*/*")], [("Accept", "text/html, */*")]] {
                    let answer = try await api.send("GET", base + path, as: token, accept)
                    #expect(answer.headers["Content-Type"] == "text/plain; charset=utf-8", "\(path)")
                    #expect(answer.body.first != UInt8(ascii: "{"))
                }
            }
            for path in ["/api/tasks", "/api/tasks/7", "/api/tasks/tasks", "/tasksx"] {
                let answer = try await api.send("GET", base + path, as: token, [("Accept", "*/*")])
                #expect(answer.headers["Content-Type"] == "application/problem+json", "\(path)")
            }
        }
        let asked = try await api.send("GET", base + "/tasks", as: "outdated", [("Accept", "application/json")])
        #expect(asked.status == 401 && asked.code == "token.expired")
    }

    @Test(
        "What the server refuses itself is text at the same addresses", arguments: HTTPFault.allCases, ["", "/below"])
    func adalFaults(fault: HTTPFault, base: String) throws {
        let paths = [("/tasks:3000", true), ("/todoserver/tasks", true), ("/api/tasks", false), ("/%2F", false)]
        for (path, isOld) in paths {
            let target = (try? RequestTarget(parsing: base + path)) ?? RequestTarget(raw: path, absolutePath: "")
            let head = RequestHead(method: .get, target: target, headers: ["Accept": "*/*"])
            let type = HTTPFault.refuse(atAPI: fault, head, below: base).headers["Content-Type"]
            #expect((type == "text/plain; charset=utf-8") == isOld, "\(path)")
        }
    }

    @Test(
        "Android: Latin-1 in JSON, a content type on GET, and only the first line is read",
        arguments: Transport.allCases)
    func android(transport: Transport) async throws {
        let api = TestedAPI(transport)
        // Most bytes become two.
        let body = Array("{        \"task\": \"Caf".utf8) + Array(repeating: 0xE9, count: 60) + Array("\"    }".utf8)
        #expect(try await api.send("POST", "/tasks", as: "alice", [json], body).status == 201)
        let list = try await api.send("GET", "/tasks", as: "alice", [json])
        #expect(list.status == 200)
        #expect(!list.body.contains(UInt8(ascii: "\n")))
        #expect(try texts(list) == ["Caf" + String(repeating: "é", count: 60)])
    }

    @Test(arguments: Transport.allCases)
    func `Browser with Hello.js: a token in the query, where the setting allows it`(transport: Transport) async throws {
        let origin = ("Origin", "http://localhost:8000")
        let closed = try await TestedAPI(transport).send("GET", "/api/tasks/hellojs?access_token=alice", [origin])
        #expect(closed.status == 401)
        #expect(closed.headers["Access-Control-Allow-Origin"] == "*")
        #expect(try JSONValue(parsing: closed.body).object?.contains("error") == true)

        let api = TestedAPI(transport) { $0.allowQueryToken = true }
        let preflight = try await api.send(
            "OPTIONS", "/api/tasks?access_token=alice",
            [origin, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type")])
        #expect(preflight.status == 204)
        #expect(preflight.headers["Access-Control-Allow-Methods"]?.contains("POST") == true)
        let body = #"{"Text":"Sat Nov 21 2026","owner":"hellojs"}"#
        let added = try await api.send("POST", "/api/tasks?access_token=alice", [origin, json], Array(body.utf8))
        #expect(added.status == 201)
        let list = try await api.send("GET", "/api/tasks/hellojs?access_token=alice", [origin])
        #expect(list.status == 200)
        #expect(list.headers["Access-Control-Allow-Origin"] == "*")
        #expect(try texts(list) == ["Sat Nov 21 2026"])
    }

    @Test(
        "Forms, other names and words for truth values change a task, though openapi.yaml leaves them out",
        arguments: Transport.allCases)
    func leftOut(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let multipart = ("Content-Type", "multipart/form-data; boundary=x")
        let patch = ("Content-Type", "application/merge-patch+json")
        let part = "--x\r\nContent-Disposition: form-data; name=\"Task\"\r\n\r\nd\r\n--x--\r\n"
        let steps = [
            ("POST", "/api/tasks", form, "TEXT=a&completed=TRUE", "a", true),
            ("PATCH", "/api/tasks/1", form, "task=b&Completed=false", "b", false),
            ("PUT", "/tasks/1", form, "Text=c&completed=True", "c", true),
            ("PATCH", "/api/tasks/1", multipart, part, "d", true),
            ("PATCH", "/api/tasks/1", patch, #"{"Task":"e","COMPLETED":"False"}"#, "e", false),
            ("PUT", "/api/tasks/1", json, #"{"Text":7,"completed":"true"}"#, "7", true),
            ("POST", "/api/tasks", json, #"{"task":null,"Text":"g"}"#, "g", false),
        ]
        for (method, path, type, body, text, completed) in steps {
            let answer = try await api.send(method, path, as: "alice", [type], body)
            #expect(answer.status == (method == "POST" ? 201 : 200), "\(body)")
            let task = try JSONValue(parsing: answer.body).object
            #expect(task?["task"]?.string == text && task?["completed"] == .boolean(completed), "\(body)")
        }
        #expect(try await api.send("POST", "/api/tasks?Task=query", as: "alice").status == 201)
        #expect(try await texts(api.send("GET", "/api/tasks/anybody", as: "alice")) == ["7", "g", "query"])
        #expect(try await api.send("PATCH", "/api/tasks/anybody", as: "alice", [json], "{}").status == 405)
        #expect(try await api.send("DELETE", "/api/tasks/anybody?text=7", as: "alice").status == 204)
        #expect(try await texts(api.send("GET", "/api/tasks", as: "alice")) == ["g", "query"])
    }

    @Test(arguments: Transport.allCases)
    func `The addresses of restify have the owner and the text in the path`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        #expect(try await api.send("POST", "/api/tasks/anybody/Buy%20milk", as: "alice").status == 201)
        #expect(try await texts(api.send("GET", "/api/tasks/anybody", as: "alice")) == ["Buy milk"])
        #expect(try await api.send("DELETE", "/api/tasks/anybody/Buy%20bread", as: "alice").status == 204)
        #expect(try await texts(api.send("GET", "/tasks/anybody", as: "alice")) == ["Buy milk"])
        #expect(try await api.send("DELETE", "/api/tasks/anybody/Buy%20milk", as: "alice").status == 204)
        #expect(try await api.send("GET", "/tasks/anybody", as: "alice").text == "[]")
    }
}
