import HTTP
import JSON
import Support
import TaskAPI
import Testing

@Suite("A task that is sent back with a change of one of its names")
struct CopiedTaskTests {
    private static let fields = [json, problemJSON]

    /// The members of a task, some with other values.
    private func copy(_ task: JSONObject, _ changes: [String: JSONValue]) -> JSONValue {
        .object(JSONObject(task.members.map { ($0.name, changes[$0.name] ?? $0.value) }))
    }

    private func send(
        _ api: TestedAPI, _ method: String, _ path: String, _ body: JSONValue
    ) async throws -> Response {
        try await api.send(method, path, as: "alice", Self.fields, body.serialized())
    }

    /// Adds the open task "a" and gives it as a client reads it.
    private func add(_ api: TestedAPI) async throws -> JSONObject {
        try await api.send("POST", "/api/tasks", as: "alice", Self.fields, #"{"task":"a"}"#).object
    }

    @Test(
        "The name that differs from what is stored counts, in a task and in a list of changes",
        arguments: [
            ["completed": true], ["Completed": true], ["task": "b"], ["Text": "b"], ["task": "b", "Text": "b"],
            ["Text": "b", "completed": true], ["task": "b", "Text": "c"],
            ["task": "b", "Completed": true, "Text": "c"],
        ] as [[String: JSONValue]])
    func differs(changes: [String: JSONValue]) async throws {
        for (method, path) in [("PUT", "/api/tasks/1"), ("PATCH", "/api/tasks/1"), ("PATCH", "/api/tasks")] {
            let api = TestedAPI(.inProcess)
            let task = try await add(api)
            let body = copy(task, changes)
            let answer = try await send(api, method, path, path == "/api/tasks" ? [body] : body)
            let after = try await api.send("GET", "/api/tasks/1", as: "alice").object
            if changes["task"] != nil, changes["Text"] == "c" {
                #expect(answer.status == 400 && answer.code == "request.field", "\(answer.text)")
                #expect(after == task)
                continue
            }
            #expect(answer.status == 200, "\(method) \(path): \(answer.text)")
            let (text, completed) = (changes["task"] ?? changes["Text"], changes["completed"] ?? changes["Completed"])
            for name in ["task", "Text"] { #expect(after[name] == text ?? "a", "\(method) \(path)") }
            for name in ["completed", "Completed"] { #expect(after[name] == completed ?? false, "\(method) \(path)") }
        }
    }

    @Test func `A condition of the client counts as ever, and a task that is missing is missing`() async throws {
        let api = TestedAPI(.inProcess)
        let task = try await add(api)
        let fields = Self.fields + [("If-Match", "\"1.2\"")]
        let body = copy(task, ["completed": true]).serialized()
        #expect(try await api.send("PUT", "/api/tasks/1", as: "alice", fields, body).status == 412)
        #expect(try await api.send("PUT", "/api/tasks/2", as: "alice", Self.fields, body).status == 404)
        let list = #"[{"id":1,"task":"b","Text":"a","ifMatch":"\"1.2\""}]"#
        #expect(try await api.send("PATCH", "/api/tasks", as: "alice", Self.fields, list).status == 412)
        let missing = #"[{"id":1,"task":"b","Text":"a"},{"id":2,"task":"b","Text":"a"}]"#
        #expect(try await api.send("PATCH", "/api/tasks", as: "alice", Self.fields, missing).status == 404)
        let twice = try await api.send(
            "PATCH", "/api/tasks/1", as: "alice", [("Content-Type", "application/x-www-form-urlencoded")],
            "task=b&Task=c")
        #expect(twice.status == 400)
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").object == task)
    }
}
