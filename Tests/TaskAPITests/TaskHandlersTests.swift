import HTTP
import JSON
import Platform
import TaskAPI
import Support
import Tasks
import Testing

@Suite("What a person may do with tasks")
struct TaskHandlersTests {
    @Test(arguments: Transport.allCases)
    func `No one sees or changes the tasks of another, on any method`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        _ = try await api.send("POST", "/api/tasks", as: "alice", [json], #"{"task":"mine"}"#)
        #expect(try await api.send("GET", "/api/tasks", as: "bob").text == "[]")
        #expect(try await api.send("GET", "/api/tasks/1", as: "bob").status == 404)
        #expect(try await api.send("PATCH", "/api/tasks/1", as: "bob", [json], #"{"completed":true}"#).status == 404)
        #expect(try await api.send("PUT", "/api/tasks/1", as: "bob", [json], #"{"task":"x"}"#).status == 404)
        #expect(try await api.send("DELETE", "/api/tasks/1", as: "bob").status == 204)
        #expect(try await api.send("DELETE", "/api/tasks", as: "bob", [json], #"{"task":"mine"}"#).status == 204)
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").status == 200)
    }

    @Test(arguments: Transport.allCases)
    func `PATCH changes what it names, PUT everything, If-Match guards both`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let added = try await api.send("POST", "/api/tasks", as: "alice", [json], #"{"task":"a"}"#)
        let tag = try #require(added.headers["ETag"])
        func status(ifNoneMatch tag: String) async throws -> Status {
            try await api.send("GET", "/api/tasks/1", as: "alice", [("If-None-Match", tag)]).status
        }
        #expect(try await status(ifNoneMatch: tag) == 304)
        let patched = try await api.send(
            "PATCH", "/api/tasks/1", as: "alice", [json, ("If-Match", tag)], #"{"completed":true}"#)
        #expect(patched.status == 200)
        for other in [tag, #""x""#] { #expect(try await status(ifNoneMatch: other) == 200) }
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

    @Test(arguments: Transport.allCases)
    func `DELETE with If-Match removes a task only in the state that was seen`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        _ = try await api.send("POST", "/api/tasks?task=a", as: "alice")
        let changed = try await api.send("PATCH", "/api/tasks/1", as: "alice", [json], #"{"completed":true}"#)
        let tag = try #require(changed.headers["ETag"])
        func delete(_ target: String, _ tag: String) async throws -> Status {
            try await api.send("DELETE", target, as: "alice", [("If-Match", tag)]).status
        }
        for other in [#""1.1""#, #"W/"1.1-gzip""#, #""x""#] { #expect(try await delete("/api/tasks/1", other) == 412) }
        for several in ["/api/tasks?task=a", "/api/tasks?completed=true", "/api/tasks/alice/a"] {
            #expect(try await delete(several, "*") == 400)
        }
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").status == 200)
        let lines = [("If-Match", #""x""#), ("If-Match", "W/\(tag.dropLast())-zstd\"")]
        #expect(try await api.send("DELETE", "/api/tasks/1", as: "alice", lines).status == 204)
        #expect(try await delete("/api/tasks/1", tag) == 204)
        #expect(try await api.send("GET", "/api/tasks/1", as: "alice").status == 404)
    }

    @Test(arguments: Transport.allCases)
    func `An Idempotency-Key makes a retry add once`(transport: Transport) async throws {
        let api = TestedAPI(transport)
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

    @Test(arguments: [false, true])
    func `The digests of idempotency keys stay what they are: databases hold them`(completed: Bool) async throws {
        let store = MemoryTaskStore()
        let added = try await TestedAPI(.inProcess) { $0.store = store }.send(
            "POST", "/api/tasks", as: "alice", [json, ("Idempotency-Key", "5b1c")],
            #"{"task":"milk","completed":\#(completed)}"#)
        #expect(added.status == 201)
        // The store tells a retry from a reuse of the key by the digest.
        let digest: UInt64 = completed ? 0xf4f5_e55c_05d7_6ed7 : 0xd456_e260_531b_5c48
        let again = try await store.add(
            "milk", completed: completed, at: SystemTime().wallMilliseconds,
            key: IdempotencyKey(key: "5b1c", fingerprint: digest), of: Owner(NameVerifier.alice))
        let isRepeated = if case .repeated = again { true } else { false }
        #expect(isRepeated, "\(again)")
    }

    @Test(arguments: Transport.allCases)
    func `Lists are filtered, paged and known again by their tag`(transport: Transport) async throws {
        let api = TestedAPI(transport)
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
        let wrong = [
            "limit=0", "limit=x", "completed=yes", "after=-1", "limit=1001", "limit=%2B5", "after=%2B5", "after=-0",
            "limit=1&limit=2", "completed=true&completed=false", "after=1&x=2&after=1",
        ]
        for query in wrong {
            #expect(try await api.send("GET", "/api/tasks?\(query)", as: "alice").status == 400, "\(query)")
        }
    }

    @Test(
        "A body that cannot be used is refused with what to do",
        arguments: [
            ("application/json", #"{"task":"#, 400, "request.json"), ("application/json", "[]", 400, "request.json"),
            ("application/json", #"{"task":"a","task":"b"}"#, 400, "request.json"),
            ("application/json", #"{"task":"a","t\u0061sk":"b"}"#, 400, "request.json"),
            ("application/json", #"{"task":"a","other":[{"b":1,"b":2}]}"#, 400, "request.json"),
            ("application/json", #"{"task":["a"]}"#, 400, "request.field"),
            ("application/json", "{}", 409, "MissingTask"),
            ("application/json", #"{"task":"\u0000"}"#, 400, "task.nul"),
            ("application/json", #"{"task":"a","other":"\u0000"}"#, 400, "task.nul"),
            ("application/json", #"{"task":"a","other":[1,{"b":["x\u0000"]}]}"#, 400, "task.nul"),
            ("application/json", #"{"task":"a","\u0000":1}"#, 400, "request.json"),
            ("application/json", #"{"task":"a","other":{"b\u0000":1}}"#, 400, "request.json"),
            ("application/x-www-form-urlencoded", "task=a&other=%00", 400, "task.nul"),
            ("application/x-www-form-urlencoded", "task=a&oth%00er=b", 400, "task.nul"),
            (
                "multipart/form-data; boundary=x",
                "--x\r\nContent-Disposition: form-data; name=\"task\"\r\n\r\na\r\n"
                    + "--x\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\n\0\r\n--x--\r\n", 400, "task.nul"
            ),
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
        #expect(answer.code == expected)
    }

    @Test("A compressed body is refused before it is read", arguments: Transport.allCases)
    func contentCoding(transport: Transport) async throws {
        let api = TestedAPI(transport)
        for (method, path) in [("POST", "/api/tasks"), ("PATCH", "/api/tasks/1"), ("PATCH", "/api/tasks")] {
            for coding in ["gzip", "br", "identity, x-gzip", "zstd"] {
                let fields = [form, problemJSON, ("Content-Encoding", coding)]
                let answer = try await api.send(method, path, as: "alice", fields, "task=a")
                #expect(answer.status == 415 && answer.headers["Accept-Encoding"] == "identity")
                #expect(answer.code == "request.content_coding")
            }
        }
        for coding in ["identity", "Identity"] {
            let fields = [form, ("Content-Encoding", coding)]
            #expect(try await api.send("POST", "/api/tasks", as: "alice", fields, "task=a").status == 201)
        }
    }

    @Test func `JSON may begin with a byte-order mark`() async throws {
        let api = TestedAPI(.inProcess)
        let added = try await api.send("POST", "/api/tasks", as: "alice", [json], "\u{FEFF}{\"task\":\"a\"}")
        #expect(added.status == 201)
        let list = "\u{FEFF}[{\"id\":1,\"completed\":true}]"
        #expect(try await api.send("PATCH", "/api/tasks", as: "alice", [json], list).status == 200)
    }

    @Test(
        "JSON at the limit of its depth or of its values is taken, and beyond it refused",
        arguments: [(31, 1, 201), (32, 1, 400), (1, 997, 201), (1, 998, 400)])
    func limitsOfJSON(depth: Int, values: Int, status: Int) async throws {
        let inner = Array(repeating: "1", count: values).joined(separator: ",")
        let other = String(repeating: "[", count: depth) + inner + String(repeating: "]", count: depth)
        let answer = try await TestedAPI(.inProcess).send(
            "POST", "/api/tasks", as: "alice", [json], #"{"task":"a","other":\#(other)}"#)
        #expect(answer.status.rawValue == status)
    }

    @Test(arguments: ["other=%00", "oth%00er=a"])
    func `U+0000 in a query argument is refused, whatever the argument is`(argument: String) async throws {
        let answer = try await TestedAPI(.socket).send("POST", "/api/tasks?task=a&\(argument)", as: "alice")
        #expect(answer.status == 400)
    }

    @Test(
        "An integer that is the id of no task is 404 to read and change, 204 to delete, and deletes nothing",
        arguments: Transport.allCases)
    func integersWithoutTask(transport: Transport) async throws {
        let api = TestedAPI(transport)
        _ = try await api.send("POST", "/api/tasks?task=kept", as: "alice")
        let far = "1" + String(repeating: "0", count: 400)
        for id in ["-1", "+1", "%2B1", "0", "-0", "9223372036854775808", "18446744073709551617", far] {
            for (method, body) in [("GET", ""), ("PATCH", #"{"completed":true}"#), ("PUT", #"{"task":"x"}"#)] {
                let answer = try await api.send(method, "/api/tasks/\(id)", as: "alice", [json, problemJSON], body)
                #expect(answer.status == 404, "\(method) \(id)")
                #expect(answer.code == "task.not_found", "\(method) \(id)")
            }
            #expect(try await api.send("HEAD", "/api/tasks/\(id)", as: "alice").status == 404)
            let post = try await api.send("POST", "/api/tasks/\(id)", as: "alice", [json], #"{"task":"x"}"#)
            #expect(post.status == 405)
            for (query, status) in [("", 204), ("?task=kept", 400)] as [(String, Status)] {
                let deleted = try await api.send(
                    "DELETE", "/api/tasks/\(id)\(query)", as: "alice", [json], #"{"task":"kept"}"#)
                #expect(deleted.status == status, "\(id)\(query)")
            }
        }
        let kept = try await api.send("GET", "/api/tasks/1", as: "alice").text
        #expect(kept.contains(#""task":"kept""#) && kept.contains(#""completed":false"#))
    }

    @Test(
        "An Idempotency-Key is 1 to 255 printable characters, spaces inside, also as a quoted string",
        arguments: Transport.allCases
    )
    func idempotencyKeys(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let longest = String(repeating: "k", count: 255)
        for key in ["a b", #""8e03978e-40d5-43e8-bc93-6894a57f9324""#, "~", longest] {
            let first = try await api.send("POST", "/api/tasks", as: "alice", [("Idempotency-Key", key)], "task=\(key)")
            #expect(first.status == 201, "\(key)")
            let again = try await api.send("POST", "/api/tasks", as: "alice", [("Idempotency-Key", key)], "task=\(key)")
            #expect(again.text == first.text, "\(key)")
        }
        for key in ["", " ", "a\tb", "\u{E9}", longest + "k"] {
            let answer = try await api.send("POST", "/api/tasks", as: "alice", [("Idempotency-Key", key)], "task=a")
            #expect(answer.status == 400, "\(key)")
        }
        let two = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
        #expect(try await api.send("POST", "/api/tasks", as: "alice", two, "task=a").status == 400)
    }

    @Test func `JSON sent as a form, as curl -d does, is recognized`() async throws {
        let answer = try await TestedAPI(.inProcess).send(
            "POST", "/api/tasks", as: "alice", [("Content-Type", "application/x-www-form-urlencoded")], #"{"task":"a"}"#
        )
        #expect(answer.text.contains("add the header Content-Type: application/json"))
    }

    @Test(arguments: Transport.allCases)
    func `Scalars become texts, and a body without a type is read as a form`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        for body in [#"{"task":5}"#, #"{"task":true}"#] {
            #expect(try await api.send("POST", "/api/tasks", as: "alice", [json], body).status == 201)
        }
        #expect(try await api.send("POST", "/api/tasks", as: "alice", [], "task=plain").status == 201)
        let list = try await api.send("GET", "/api/tasks", as: "alice").text
        for text in ["5", "true", "plain"] { #expect(list.contains(#""task":"\#(text)""#)) }
    }

    @Test func `A person has a limited number of tasks`() async throws {
        let api = TestedAPI(.inProcess) { $0.taskLimit = 1 }
        #expect(try await api.send("POST", "/api/tasks?task=a", as: "alice").status == 201)
        let full = try await api.send("POST", "/api/tasks?task=b", as: "alice", [problemJSON])
        #expect(full.status == 409)
        #expect(full.code == "task.too_many")
    }
}
