import HTTP
import JSON
import TaskAPI
import Testing

@Suite("The rows of the API's table")
struct TaskRoutesTests {
    private let json = ("Content-Type", "application/json")
    private let problemJSON = ("Accept", "application/problem+json")

    private func code(_ response: Response) throws -> String? {
        try JSONValue(parsing: response.body).object?["code"]?.string
    }

    @Test("nobody sees or touches the tasks of another, on any method", arguments: Door.allCases)
    func isolation(door: Door) async throws {
        let api = TestedAPI(door)
        _ = try await api.send("POST", "/api/tasks", as: "alice", [json], #"{"task":"mine"}"#)
        #expect(try await api.send("GET", "/api/tasks", as: "bob").text == "[]")
        #expect(try await api.send("GET", "/api/tasks/1", as: "bob").status == 404)
        #expect(try await api.send("PATCH", "/api/tasks/1", as: "bob", [json], #"{"completed":true}"#).status == 404)
        #expect(try await api.send("PUT", "/api/tasks/1", as: "bob", [json], #"{"task":"x"}"#).status == 404)
        #expect(try await api.send("DELETE", "/api/tasks/1", as: "bob").status == 204)
        #expect(try await api.send("DELETE", "/api/tasks", as: "bob", [json], #"{"task":"mine"}"#).status == 204)
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").status == 200)
    }

    @Test("a delete without a text deletes nothing", arguments: Door.allCases)
    func deleteNothing(door: Door) async throws {
        let api = TestedAPI(door)
        _ = try await api.send("POST", "/api/tasks?task=kept", as: "alice")
        for body in ["", "{}", #"{"task":null}"#, #"{"task":""}"#] {
            #expect(try await api.send("DELETE", "/api/tasks", as: "alice", [json], body).status == 204)
        }
        #expect(try await api.send("DELETE", "/api/tasks/anybody", as: "alice").status == 204)
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").status == 200)
        #expect(try await api.send("DELETE", "/api/tasks?task=kept", as: "alice").status == 204)
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").status == 404)
    }

    @Test("PATCH changes what it names, PUT everything, If-Match guards both", arguments: Door.allCases)
    func change(door: Door) async throws {
        let api = TestedAPI(door)
        let added = try await api.send("POST", "/api/tasks", as: "alice", [json], #"{"task":"a"}"#)
        let tag = try #require(added.headers["ETag"])
        let patched = try await api.send(
            "PATCH", "/api/tasks/1", as: "alice", [json, ("If-Match", tag)], #"{"completed":true}"#)
        #expect(patched.status == 200)
        #expect(patched.text.contains(#""task":"a""#) && patched.text.contains(#""Completed":true"#))
        let late = try await api.send(
            "PATCH", "/api/tasks/1", as: "alice", [json, ("If-Match", tag)], #"{"task":"b"}"#)
        #expect(late.status == 412)
        let put = try await api.send("PUT", "/api/tasks/1", as: "alice", [json, ("If-Match", "*")], #"{"Text":"c"}"#)
        #expect(put.text.contains(#""Text":"c""#) && put.text.contains(#""completed":false"#))
        #expect(try await api.send("PUT", "/api/tasks/1", as: "alice", [json], #"{"completed":true}"#).status == 409)
        #expect(try await api.send("PATCH", "/api/tasks/2", as: "alice", [json], #"{"task":"x"}"#).status == 404)
        let missing = try await api.send("PATCH", "/api/tasks/2", as: "alice", [json, ("If-Match", "*")], "{}")
        #expect(missing.status == 412)
    }

    @Test("a change of one name of a value in a copied task is refused, not lost", arguments: Door.allCases)
    func disagreement(door: Door) async throws {
        let api = TestedAPI(door)
        _ = try await api.send("POST", "/api/tasks?task=a", as: "alice")
        for body in [#"{"task":"b","Text":"a"}"#, #"{"completed":true,"Completed":false}"#, #"{"completed":"maybe"}"#] {
            let answer = try await api.send("PATCH", "/api/tasks/1", as: "alice", [json, problemJSON], body)
            #expect(answer.status == 400)
            #expect(try code(answer) == "request.field")
        }
    }

    @Test("an Idempotency-Key makes a retry add once", arguments: Door.allCases)
    func idempotency(door: Door) async throws {
        let api = TestedAPI(door)
        let key = ("Idempotency-Key", "5b1c")
        let first = try await api.send("POST", "/api/tasks", as: "alice", [json, key], #"{"task":"a"}"#)
        let again = try await api.send("POST", "/api/tasks", as: "alice", [json, key], #"{"task":"a"}"#)
        #expect(first.status == 201 && again.status == 201)
        #expect(first.body == again.body)
        let other = try await api.send("POST", "/api/tasks", as: "alice", [json, key, problemJSON], #"{"task":"b"}"#)
        #expect(other.status == 422)
        #expect(try await api.send("POST", "/api/tasks", as: "bob", [json, key], #"{"task":"b"}"#).status == 201)
        let bad = try await api.send(
            "POST", "/api/tasks", as: "alice", [json, ("Idempotency-Key", String(repeating: "k", count: 256))],
            #"{"task":"b"}"#)
        #expect(bad.status == 400)
    }

    @Test("lists are filtered, paged and known again by their tag", arguments: Door.allCases)
    func lists(door: Door) async throws {
        let api = TestedAPI(door)
        for number in 1...5 {
            _ = try await api.send("POST", "/api/tasks", as: "alice", [json], #"{"task":"\#(number)"}"#)
        }
        _ = try await api.send("PATCH", "/api/tasks/2", as: "alice", [json], #"{"completed":true}"#)
        let page = try await api.send("GET", "/api/tasks?completed=false&limit=2", as: "alice")
        #expect(page.headers["Link"] == "</api/tasks?completed=false&limit=2&after=3>; rel=\"next\"")
        let last = try await api.send("GET", "/api/tasks?completed=false&limit=2&after=3", as: "alice")
        #expect(last.headers["Link"] == nil)
        #expect(try JSONValue(parsing: last.body).array?.count == 2)
        let whole = try await api.send("GET", "/api/tasks", as: "alice")
        let tag = try #require(whole.headers["ETag"])
        let known = try await api.send("GET", "/api/tasks", as: "alice", [("If-None-Match", tag)])
        #expect(known.status == 304 && known.body.isEmpty)
        for query in ["limit=0", "limit=x", "completed=yes", "after=-1", "limit=1001"] {
            #expect(try await api.send("GET", "/api/tasks?\(query)", as: "alice").status == 400)
        }
    }

    @Test(
        "a body that cannot be used is refused with what to do",
        arguments: [
            ("application/json", #"{"task":"#, 400, "request.json"), ("application/json", "[]", 400, "request.json"),
            ("application/json", #"{"task":"a","task":"b"}"#, 400, "request.json"),
            ("application/json", #"{"task":["a"]}"#, 400, "request.field"),
            ("application/json", "{}", 409, "MissingTask"),
            ("application/json", #"{"task":"\u0000"}"#, 400, "task.nul"),
            ("text/plain", "Buy milk", 415, "request.media_type"),
            ("application/x-www-form-urlencoded", "task=%zz", 400, "request.form"),
            ("application/x-www-form-urlencoded", #"{"task":"a"}"#, 409, "MissingTask"),
            ("multipart/form-data", "x", 400, "request.form"),
            ("application/x-www-form-urlencoded", "task=a" + String(repeating: "&b", count: 100), 400, "request.form"),
            (
                "application/json", #"{"task":"a","b":["# + String(repeating: "1,", count: 1000) + "1]}", 400,
                "request.json"
            ),
        ])
    func refusedBodies(type: String, body: String, status: Int, code expected: String) async throws {
        let answer = try await TestedAPI(.inProcess).send(
            "POST", "/api/tasks", as: "alice", [("Content-Type", type), problemJSON], body)
        #expect(answer.status.rawValue == status)
        #expect(try code(answer) == expected)
    }

    @Test("JSON sent as a form, as curl -d does, is told apart")
    func jsonAsForm() async throws {
        let answer = try await TestedAPI(.inProcess).send(
            "POST", "/api/tasks", as: "alice", [("Content-Type", "application/x-www-form-urlencoded")], #"{"task":"a"}"#
        )
        #expect(answer.text.contains("add the header Content-Type: application/json"))
    }

    @Test("scalars become texts, and a body without a type is read as a form", arguments: Door.allCases)
    func leniency(door: Door) async throws {
        let api = TestedAPI(door)
        for body in [#"{"task":5}"#, #"{"task":true}"#] {
            #expect(try await api.send("POST", "/api/tasks", as: "alice", [json], body).status == 201)
        }
        #expect(try await api.send("POST", "/api/tasks", as: "alice", [], "task=plain").status == 201)
        let list = try await api.send("GET", "/api/tasks", as: "alice").text
        for text in ["5", "true", "plain"] { #expect(list.contains(#""task":"\#(text)""#)) }
    }

    @Test("a person has a limited number of tasks")
    func limit() async throws {
        let api = TestedAPI(.inProcess) { $0.taskLimit = 1 }
        #expect(try await api.send("POST", "/api/tasks?task=a", as: "alice").status == 201)
        let full = try await api.send("POST", "/api/tasks?task=b", as: "alice", [problemJSON])
        #expect(full.status == 409)
        #expect(try code(full) == "task.too_many")
    }
}
