import HTTP
import JSON
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
        #expect(bare.status == 201 && bare.text.hasSuffix(#"Z"}"#), "\(bare.text)")
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
