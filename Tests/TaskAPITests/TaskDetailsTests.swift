import Basics
import HTTP
import JSON
import Platform
import Testing

@Suite("Due date, notes and position of a task")
struct TaskDetailsTests {
    private let three = #""due":"2026-11-30","notes":"two\nlines","position":2.5"#

    @Test(arguments: Transport.allCases)
    func `They are added, read, changed and removed, each by its name`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let added = try await api.send("POST", "/api/tasks", as: "alice", [json], #"{"task":"a",\#(three)}"#)
        #expect(added.status == 201)
        #expect(added.text.hasSuffix(#",\#(three)}"#), "\(added.text)")
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").body == added.body)
        #expect(try await api.send("GET", "/api/tasks", as: "alice").text == "[\(added.text)]")
        let tag = try #require(added.headers["ETag"])
        let patched = try await api.send(
            "PATCH", "/api/tasks/1", as: "alice", [json, ("If-Match", tag)], #"{"due":null,"position":-3}"#)
        #expect(patched.text.hasSuffix(#","notes":"two\nlines","position":-3}"#), "\(patched.text)")
        #expect(patched.headers["ETag"] != tag)
        let put = try await api.send("PUT", "/api/tasks/1", as: "alice", [json], #"{"task":"b"}"#)
        #expect(put.text.hasSuffix(#","notes":"two\nlines","position":-3}"#), "\(put.text)")
        let named = try await api.send(
            "PUT", "/api/tasks/1", as: "alice", [json], #"{"task":"b","notes":null,"Due":"2027-01-31","position":null}"#
        )
        #expect(named.text.hasSuffix(#","due":"2027-01-31"}"#), "\(named.text)")
        let same = try await api.send("PATCH", "/api/tasks/1", as: "alice", [json], #"{"due":"2027-01-31"}"#)
        #expect(same.body == named.body && same.headers["ETag"] == named.headers["ETag"])
    }

    @Test(arguments: Transport.allCases)
    func `In a form an empty value stands for none`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let added = try await api.send(
            "POST", "/api/tasks", as: "alice", [form], "task=a&due=2026-11-30&notes=two%0Alines&position=2.5")
        #expect(added.text.hasSuffix(#",\#(three)}"#), "\(added.text)")
        let bare = try await api.send("POST", "/api/tasks", as: "alice", [form], "task=a&due=&notes=&position=")
        #expect(bare.status == 201 && bare.text.hasSuffix(#"Z","revision":1}"#), "\(bare.text)")
        let changed = try await api.send("PATCH", "/api/tasks/1", as: "alice", [form], "notes=&position=1e2")
        #expect(changed.text.hasSuffix(#","due":"2026-11-30","position":100}"#), "\(changed.text)")
        let multipart = [("due", ""), ("notes", "n")].map {
            "--x\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\($1)\r\n"
        }.joined()
        let last = try await api.send(
            "PATCH", "/api/tasks/1", as: "alice", [("Content-Type", "multipart/form-data; boundary=x")],
            multipart + "--x--\r\n")
        #expect(last.text.hasSuffix(#","notes":"n","position":100}"#), "\(last.text)")
    }

    @Test(
        "A value that is not valid is refused with the name of its field, and nothing is changed",
        arguments: [
            (#""due":"2027-02-29""#, "due"), (#""due":"tomorrow""#, "due"), (#""due":20261130"#, "due"),
            (#""due":"""#, "due"), (#""due":["2026-11-30"]"#, "due"), (#""due":false"#, "due"),
            (#""notes":"""#, "notes"), (#""notes":5"#, "notes"), (#""notes":{}"#, "notes"),
            (#""notes":"\#(String(repeating: "x", count: 10_001))""#, "notes"), (#""position":"2.5""#, "position"),
            (#""position":true"#, "position"), (#""position":9007199254740993"#, "position"),
            (#""position":-9007199254740993"#, "position"), (#""position":1e16"#, "position"),
            (#""repeat":"FREQ=HOURLY","due":"2026-11-30""#, "repeat"), (#""repeat":[],"due":"2026-11-30""#, "repeat"),
            (#""repeat":"FREQ=DAILY""#, "repeat"),
            (#""due":"2026-11-30","Due":"2026-12-01""#, "due"), (#""position":1,"Position":null"#, "position"),
        ])
    func wrongValues(members: String, name: String) async throws {
        let api = TestedAPI(.inProcess)
        #expect(try await api.send("POST", "/api/tasks?task=kept", as: "alice").status == 201)
        let before = try await api.send("GET", "/api/tasks", as: "alice").body
        for (method, path) in [("POST", "/api/tasks"), ("PATCH", "/api/tasks/1"), ("PUT", "/api/tasks/1")] {
            let answer = try await api.send(
                method, path, as: "alice", [json, problemJSON], #"{"task":"a",\#(members)}"#)
            #expect(answer.status == 422, "\(method)")
            let problem = try answer.object
            #expect(problem["code"]?.string == "task.detail")
            #expect(problem["detail"]?.string?.hasPrefix("\(name) must be ") == true, "\(answer.text)")
        }
        #expect(try await api.send("GET", "/api/tasks", as: "alice").body == before)
    }

    /// What generated clients send to change one value, and the end of the task after that (docs/connect-a-client.md).
    ///
    /// Before, it is done and has three details. Python is of openapi-generator, as are Java's Gson and Jackson; Newtonsoft
    /// and System.Text.Json are of NSwag.
    @Test(
        "A generated client changes one value and leaves the others, whatever it writes for what was not set",
        arguments: [
            ("Python, from_dict", "PATCH", #"{"completed":false,\#(nulls)}"#, #""a",false,\#(details)"#),
            ("Python, from_dict", "PATCH", #"{"task":"b","completed":null,\#(nulls)}"#, #""b",true,\#(details)"#),
            ("Python", "PATCH", #"{"due":null}"#, #""a",true,"notes":"n","position":2.5"#),
            ("Newtonsoft", "PATCH", #"{"task":"b"}"#, #""b",true,\#(details)"#),
            ("Newtonsoft", "PUT", #"{"task":"b","completed":true}"#, #""b",true,\#(details)"#),
            ("System.Text.Json", "PATCH", #"{"task":"b","completed":null,\#(nulls)}"#, #""b",true,\#(details)"#),
            ("System.Text.Json", "PATCH", #"{"task":null,"completed":false,\#(nulls)}"#, #""a",false,\#(details)"#),
            ("System.Text.Json", "PUT", #"{"task":"b","completed":true,\#(nulls)}"#, #""b",true,\#(details)"#),
            ("System.Text.Json", "PUT", #"{"task":"b","completed":null,\#(nulls)}"#, #""b",false,\#(details)"#),
            (
                "System.Text.Json", "PATCH",
                #"{"task":null,"completed":null,"due":null,"notes":null,"position":null,"remove":["due"]}"#,
                #""a",true,"notes":"n","position":2.5"#
            ),
            ("Kiota", "PATCH", #"{"completed":false}"#, #""a",false,\#(details)"#),
            ("Kiota, Gson", "PATCH", #"{"remove":["position","due","due"]}"#, #""a",true,"notes":"n""#),
            ("Jackson", "PATCH", #"{"notes":null}"#, #""a",true,"due":"2026-11-30","position":2.5"#),
            ("TypeScript", "PUT", #"{"task":"b","notes":"m","remove":["due","position"]}"#, #""b",false,"notes":"m""#),
        ])
    func generatedBodies(client: String, method: String, body: String, end: String) async throws {
        for path in ["/api/tasks/1", "/api/tasks"] where path.hasSuffix("1") || method == "PATCH" {
            let api = TestedAPI(.inProcess)
            let task = #"{"task":"a","completed":true,"due":"2026-11-30","notes":"n","position":2.5}"#
            _ = try await api.send("POST", "/api/tasks", as: "alice", [json], task)
            let sent = path.hasSuffix("1") ? body : #"[{"id":1,"ifMatch":null,\#(body.dropFirst())]"#
            #expect(try await api.send(method, path, as: "alice", [json], sent).status == 200, "\(client): \(sent)")
            let members = try await api.send("GET", "/api/tasks/1", as: "alice").object.members
            let names = ["task", "completed", "due", "notes", "position"]
            let values = members.filter { names.contains($0.name) }.map { member in
                let value = member.value.serialized()
                let text = String(decoding: value, as: UTF8.self)
                return ["task", "completed"].contains(member.name) ? text : "\"\(member.name)\":\(text)"
            }
            #expect(values.joined(separator: ",") == end, "\(client): \(sent)")
        }
    }

    private static let nulls = #""due":null,"notes":null,"position":null,"remove":null"#
    private static let details = #""due":"2026-11-30","notes":"n","position":2.5"#

    @Test(arguments: [#""task":"b""#, #""task":"b","completed":null,"due":null,"notes":null,"position":null"#])
    func `A task that a generated client adds has no detail that was not set`(members: String) async throws {
        let added = try await TestedAPI(.inProcess).send("POST", "/api/tasks", as: "alice", [json], "{\(members)}")
        #expect(added.status == 201 && added.text.hasSuffix(#""revision":1}"#), "\(added.text)")
    }

    @Test(
        "Only details are removed, and none that is set as well",
        arguments: [
            (#""remove":["task"]"#, "remove"), (#""remove":"due""#, "remove"), (#""remove":[1]"#, "remove"),
            (#""remove":["due",null]"#, "remove"), (#""remove":["Due"]"#, "remove"),
            (#""due":"2026-11-30","remove":["due"]"#, "due"),
        ])
    func wrongRemovals(members: String, name: String) async throws {
        let api = TestedAPI(.inProcess)
        #expect(try await api.send("POST", "/api/tasks?task=kept", as: "alice").status == 201)
        for (path, body) in [("/api/tasks/1", "{\(members)}"), ("/api/tasks", "[{\"id\":1,\(members)}]")] {
            let answer = try await api.send("PATCH", path, as: "alice", [json], body)
            #expect(answer.status == 422 && answer.code == "task.detail")
            #expect(answer.text.contains("\(name) must be "), "\(answer.text)")
        }
        // A new task has nothing to remove, and members that mean nothing are ignored.
        let added = try await api.send("POST", "/api/tasks", as: "alice", [json], #"{"task":"a","remove":["task"]}"#)
        #expect(added.status == 201)
    }

    @Test(arguments: Transport.allCases)
    func `Who completes a task that repeats is led to the next one`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let task = #"{"task":"a","due":"2020-02-01","repeat":"interval=2;freq=daily"}"#
        let added = try await api.send("POST", "/api/tasks", as: "alice", [json], task)
        #expect(added.text.hasSuffix(#","due":"2020-02-01","repeat":"FREQ=DAILY;INTERVAL=2"}"#), "\(added.text)")
        let finished = #"{"task":"a","completed":true,"due":"2020-02-01","repeat":"FREQ=DAILY"}"#
        #expect(try await api.send("POST", "/api/tasks", as: "alice", [json], finished).status == 422)
        let (now, day) = (SystemTime().wallMilliseconds, Int64(86_400_000))
        for (distance, status) in [(-2, 422), (2, 422), (1, 200)] as [(Int64, Status)] {
            let body = #"{"completed":true,"completedOn":"\#(CivilDate(at: now + distance * day).text)"}"#
            let answer = try await api.send("PATCH", "/api/tasks/1", as: "alice", [json], body)
            #expect(answer.status == status && answer.headers["Link"] == (status == 200 ? next : nil), "\(answer.text)")
        }
        let due = try #require(try await api.send("GET", "/api/tasks/2", as: "alice").object["due"]?.string)
        #expect((CivilDate(at: now + 2 * day).text...CivilDate(at: now + 4 * day).text).contains(due))
        // The apps of 2015 replace the whole task, and know neither repeat nor a day.
        let put = try await api.send("PUT", "/api/tasks/2", as: "alice", [form], "task=a&completed=true")
        #expect(put.headers["Link"] == "</api/tasks/3>; rel=\"next\"")
        #expect(
            try await api.send("PATCH", "/api/tasks/2", as: "alice", [json], #"{"completed":true}"#).headers["Link"]
                == nil)
    }

    private let next = "</api/tasks/2>; rel=\"next\""

    @Test(arguments: ["due=x", "position=one", "position=0x1", "position=%20"])
    func `A form with a value that is not valid is refused`(field: String) async throws {
        let answer = try await TestedAPI(.inProcess).send("POST", "/api/tasks", as: "alice", [form], "task=a&\(field)")
        #expect(answer.status == 422)
    }

    @Test(arguments: Transport.allCases)
    func `An Idempotency-Key belongs to a task with its details`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let headers = [json, ("Idempotency-Key", "5b1c")]
        func add(_ members: String) async throws -> Response {
            try await api.send("POST", "/api/tasks", as: "alice", headers, #"{"task":"a"\#(members)}"#)
        }
        let first = try await add(",\(three)")
        #expect(try await add(",\(three)").body == first.body)
        for other in [
            "", #","due":"2026-11-30""#, #","due":"2026-12-01","notes":"two\nlines","position":2.5"#,
            #","due":"2026-11-30","notes":"one line","position":2.5"#,
            #","due":"2026-11-30","notes":"two\nlines","position":2"#,
        ] {
            #expect(try await add(other).status == 422, "\(other)")
        }
        #expect(try await add(#","position":2.50,"notes":"two\nlines","due":"2026-11-30""#).body == first.body)
    }
}
