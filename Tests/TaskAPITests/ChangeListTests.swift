import HTTP
import JSON
import Support
import TaskAPI
import Tasks
import Testing

@Suite("Several tasks with one request")
struct ChangeListTests {
    /// An API with these tasks of Alice, and one of Bob.
    private func api(
        _ transport: Transport, _ texts: String..., change: (inout TaskAPIConfiguration) -> Void = { _ in }
    ) async throws -> TestedAPI {
        let api = TestedAPI(transport, change)
        for text in texts { _ = try await api.send("POST", "/api/tasks?task=\(text)", as: "alice") }
        _ = try await api.send("POST", "/api/tasks?task=bobs&completed=true", as: "bob")
        return api
    }

    private func members(_ response: Response) throws -> [JSONObject] {
        try #require(try JSONValue(parsing: response.body).array).compactMap(\.object)
    }

    private func problem(_ response: Response) throws -> (code: String?, ids: [Int64]) {
        (response.code, try response.object["ids"]?.array?.compactMap(\.integer) ?? [])
    }

    @Test(arguments: Transport.allCases)
    func `A list of changes is made, and answered in its order`(transport: Transport) async throws {
        let api = try await api(transport, "a", "b", "c")
        for type in ["application/json", "application/merge-patch+json; charset=utf-8"] {
            let answer = try await api.send(
                "PATCH", "/api/tasks", as: "alice", [("Content-Type", type)],
                #"[{"id":3,"completed":true},{"Id":1,"Text":"A","ifMatch":"*","IfMatch":"*"},{"id":2,"ID":2}]"#)
            #expect(answer.status == 200 && answer.headers["Content-Type"] == "application/json; charset=utf-8")
            let tasks = try members(answer)
            #expect(tasks.map { $0["Id"]?.integer } == [3, 1, 2])
            #expect(tasks.map { $0["task"]?.string } == ["c", "A", "b"])
            #expect(tasks.map { $0["Completed"]?.boolean } == [true, false, false])
        }
        let whole = try await api.send("GET", "/api/tasks", as: "alice")
        #expect(try members(whole).map { $0["task"]?.string } == ["A", "b", "c"])
        #expect(try await api.send("GET", "/api/tasks", as: "bob").text.contains(#""task":"bobs""#))
    }

    @Test func `The longest list may have every member in each change`() async throws {
        let api = try await api(.inProcess) { $0.bodyLimit = 1 << 20 }
        let changes = (1...1000).map { id in
            #"{"id":\#(id),"ifMatch":"*","task":"b","Text":"b","completed":true,"Completed":true,"#
                + #""due":"2026-11-30","notes":"n","position":2.5}"#
        }
        let answer = try await api.send(
            "PATCH", "/api/tasks", as: "alice", [json, problemJSON], "[\(changes.joined(separator: ","))]")
        // Every change was read, and no task is there.
        #expect(try problem(answer) == ("task.not_found", Array(1...1000)))
    }

    @Test(arguments: Transport.allCases)
    func `One task that is not there, or not as expected, leaves all as they are`(transport: Transport) async throws {
        let api = try await api(transport, "a", "b", "c")
        let before = try await api.send("GET", "/api/tasks", as: "alice")
        let missing = try await api.send(
            "PATCH", "/api/tasks", as: "alice", [json, problemJSON],
            #"[{"id":1,"task":"A"},{"id":5,"task":"B"},{"id":-4,"completed":true}]"#)
        #expect(missing.status == 404)
        #expect(try problem(missing) == ("task.not_found", [5, -4]))
        let changed = try await api.send(
            "PATCH", "/api/tasks", as: "alice", [json, problemJSON],
            ##"[{"id":1,"task":"A","ifMatch":"W/\"1.1\""},{"id":2,"task":"B","ifMatch":"\"2.9\""},"##
                + ##"{"id":3,"task":"C","ifMatch":"\"1.1\""}]"##)
        #expect(changed.status == 412)
        #expect(try problem(changed) == ("task.changed", [2, 3]))
        let line = try await api.send(
            "PATCH", "/api/tasks", as: "alice", [json, ("Accept", "text/plain")], #"[{"id":6},{"id":7}]"#)
        #expect(line.status == 404 && line.text.hasSuffix(" ids: 6, 7 (task.not_found)\n"), "\(line.text)")
        #expect(try await api.send("PATCH", "/api/tasks", as: "bob", [json], #"[{"id":2}]"#).status == 404)
        #expect(try await api.send("GET", "/api/tasks", as: "alice").body == before.body)
    }

    @Test(
        "A list that cannot be used is refused with what to do, and nothing is changed",
        arguments: [
            ("application/json", "", 400, "request.changes"), ("application/json", "[]", 400, "request.changes"),
            ("application/json", #"{"id":1,"task":"x"}"#, 400, "request.changes"),
            ("application/json", #"[{"id":1,"task":"x"},3]"#, 400, "request.changes"),
            ("application/json", #"[{"id":1,"task":"x"}"#, 400, "request.changes"),
            ("application/json", #"[{"id":1,"task":"x"},{"task":"x"}]"#, 400, "request.field"),
            ("application/json", #"[{"id":1,"task":"x"},{"id":"2"}]"#, 400, "request.field"),
            ("application/json", #"[{"id":1,"task":"x"},{"id":2.0}]"#, 400, "request.field"),
            ("application/json", #"[{"id":1,"task":"x"},{"id":2},{"id":1}]"#, 400, "request.field"),
            ("application/json", #"[{"id":1,"task":"x"},{"id":2,"ifMatch":7}]"#, 400, "request.field"),
            ("application/json", ##"[{"id":1,"task":"x","ifMatch":"\"1.1\",\"1.2\""}]"##, 400, "request.field"),
            ("application/json", #"[{"id":1,"task":"x"},{"id":2,"completed":"maybe"}]"#, 400, "request.field"),
            ("application/json", #"[{"id":1,"task":"x","Id":2}]"#, 400, "request.field"),
            ("application/json", ##"[{"id":1,"task":"x","ifMatch":"*","IfMatch":"\"1.1\""}]"##, 400, "request.field"),
            ("application/json", ##"[{"id":1,"task":"x","ifMatch":null,"ifmatch":"\"1.9\""}]"##, 400, "request.field"),
            ("application/json", #"[{"id":1,"task":"x"},{"id":2,"task":"\u0000"}]"#, 400, "task.nul"),
            ("application/x-www-form-urlencoded", "id=1&task=x", 415, "request.media_type"),
        ])
    func unusable(type: String, body: String, status: Status, code: String) async throws {
        let api = try await api(.inProcess, "a", "b")
        let fields = [("Content-Type", type), problemJSON]
        let answer = try await api.send("PATCH", "/api/tasks", as: "alice", fields, body)
        #expect(answer.status == status, "\(answer.text)")
        #expect(try problem(answer).code == code)
        let list = try members(try await api.send("GET", "/api/tasks", as: "alice"))
        #expect(list.map { $0["task"]?.string } == ["a", "b"])
    }

    @Test
    func `A list without a type, of more than a thousand, or under the list's own condition is refused`() async throws {
        let api = try await api(.inProcess, "a")
        func send(_ headers: [(String, String)], _ count: Int) async throws -> Response {
            let changes = (1...count).map { #"{"id":\#($0)}"# }.joined(separator: ",")
            return try await api.send("PATCH", "/api/tasks", as: "alice", [problemJSON] + headers, "[\(changes)]")
        }
        #expect(try await send([], 1).status == 415)
        #expect(try await send([json, ("If-Match", "*")], 1).status == 400)
        #expect(try problem(try await send([json], 1001)).code == "request.changes")
        #expect(try problem(try await send([json], 1000)) == ("task.not_found", Array(2...1000)))
    }

    @Test(arguments: Transport.allCases)
    func `A list of changes takes one request of the person's rate`(transport: Transport) async throws {
        let clock = ManualClock()
        let api = TestedAPI(transport) {
            $0.rateLimit = 1
            $0.time = clock
        }
        let list = #"[{"id":1},{"id":2},{"id":3}]"#
        for _ in 0..<2 {
            #expect(try await api.send("PATCH", "/api/tasks", as: "alice", [json], list).status == 404)
        }
        #expect(try await api.send("PATCH", "/api/tasks", as: "alice", [json], #"[{"id":1}]"#).status == 429)
    }

    @Test("A list of changes that is too long for one answer is made, and Link leads to the other tasks")
    func tooLong() async throws {
        let answers = AnswerMemory(limit: 1 << 20)
        let api = try await api(.inProcess, "a", "b", "c") {
            $0.store = MemoryTaskStore(answers: answers)
            $0.answers = answers
        }
        let text = String(repeating: "x", count: 4096)
        func change(_ number: Int) async throws -> (ids: [Int64?], link: String?) {
            let changes = [3, 2, 1].map { #"{"id":\#($0),"task":"\#(number)\#(text.dropFirst())"}"# }
            let list = changes.joined(separator: ",")
            let answer = try await api.send("PATCH", "/api/tasks", as: "alice", [json, problemJSON], "[\(list)]")
            #expect(answer.status == 200)
            return (try members(answer).map { $0["Id"]?.integer }, answer.headers["Link"])
        }
        var places = (0..<2).map { _ in answers.place(for: Owner(NameVerifier.alice)) }
        #expect(try await change(1) == ([3], "</api/tasks?after=0>; rel=\"next\"") && places.count == 2)
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").text.contains(#""Text":"1x"#))
        places = []
        #expect(try await change(2) == ([3, 2, 1], nil))
        #expect(answers.statistics == .init(held: 0, refused: 0))
    }

    @Test(
        "A DELETE of the list deletes what is done, by text, or nothing; whoever selects in two ways is refused",
        arguments: [
            ("/api/tasks", "", 204), ("/api/tasks?completed=false", "", 200), ("/api/tasks/anybody", "{}", 204),
            ("/api/tasks", #"{"task":null}"#, 204), ("/api/tasks", #"{"task":""}"#, 204),
            ("/api/tasks?completed=true", "", 200),
            ("/api/tasks?task=other", "", 204), ("/api/tasks/anybody?TEXT=other", "", 204),
            ("/api/tasks", #"{"task":"other","Text":"other"}"#, 204), ("/api/tasks/anybody/other", "", 204),
            ("/api/tasks?task=other&task=&Text=other", #"{"task":"other"}"#, 204),
            ("/api/tasks?completed=true&completed=true", "", 400), ("/api/tasks?completed=true", "{}", 400),
            ("/api/tasks?completed=true&completed=false", "", 400), ("/api/tasks?completed=false", "{}", 400),
            ("/api/tasks?completed=true&task=other", "", 400), ("/api/tasks?task=other&completed=true", "", 400),
            ("/api/tasks?Text=other&completed=false", "", 400), ("/api/tasks?completed=true&task=", "", 400),
            ("/api/tasks?completed=true", #"{"task":"other"}"#, 400),
            ("/api/tasks?completed=banana&task=other", "", 400), ("/api/tasks?task=other&task=x", "", 400),
            ("/api/tasks?task=other&Text=x", "", 400), ("/api/tasks?task=other", #"{"task":"x"}"#, 400),
            ("/api/tasks", #"{"task":"other","Text":"x"}"#, 400),
            ("/api/tasks?all=true", "", 400), ("/api/tasks?completed=true&limit=1", "", 400),
            ("/api/tasks?completed=TRUE", "", 400), ("/api/tasks?Completed=true", "", 400),
            ("/api/tasks?completed", "", 400), ("/api/tasks?all=true", #"{"task":"other"}"#, 400),
            ("/api/tasks/anybody?completed=true", "", 400), ("/api/tasks/anybody/other?all=true", "", 400),
            ("/api/tasks/1?all=true", "", 400), ("/api/tasks/1?completed=true", "", 400),
        ])
    func deletes(target: String, body: String, status: Int) async throws {
        let api = try await api(.inProcess, "done", "other")
        _ = try await api.send("PATCH", "/api/tasks/1", as: "alice", [json], #"{"completed":true}"#)
        let answer = try await api.send("DELETE", target, as: "alice", body.isEmpty ? [] : [json], body)
        #expect(answer.status.rawValue == status)
        if status == 400 { #expect(answer.text.contains("request.query") && !answer.text.contains("all=")) }
        let isDoneGone = status == 200 && target.contains("true")
        if status == 200 { #expect(answer.text == "{\"deleted\":\(isDoneGone ? 1 : 0)}") }
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").status == (isDoneGone ? 404 : 200))
        let isOtherGone = status == 204 && (target + body).contains("other")
        #expect(try await api.send("GET", "/api/tasks/2", as: "alice").status == (isOtherGone ? 404 : 200))
    }
}
