import Basics
import Glibc
import HTTP
import JSON
import Support
import Tasks
import Testing

@Suite("A server that runs") struct ServingTests {
    @Test func `A server answers as soon as it is started, before it has keys (V-70)`() throws {
        let stage = try Stage()
        stage.mock.send(SIGSTOP)
        defer { stage.mock.send(SIGCONT) }
        // A fetch from an authority that does not answer takes two seconds.
        try expectDuration(below: .milliseconds(1900)) {
            let start = ContinuousClock.now
            let server = try Server(stage.start())
            #expect(try server.ask("GET", "/healthz").status == 200)
            let duration = start.duration(to: .now)
            let early = try server.ask("GET", "/readyz")
            #expect(early.status == 503 && early.text.hasPrefix("not ready: no keys"))
            #expect(early.headers["Retry-After"] != nil)
            return duration
        }
    }

    @Test func `A token with 200 groups is taken, beside 8 kB of cookies, and a longer one refused as such`() throws {
        let stage = try Stage()
        let server = try stage.server()
        let tokens = try [200, 300].map { count in
            let groups = Array(repeating: "\"11111111-2222-3333-4444-555555555555\"", count: count)
            let claim = PercentEncoding.encode("[\(groups.joined(separator: ","))]")
            return try stage.token("user=alice@example.com&claim=groups=\(claim)")
        }
        #expect((11_000...12_500).contains(tokens[0].utf8.count) && tokens[1].utf8.count > 16_384)
        let cookies = ["Cookie": String(repeating: "a=b; ", count: 1600)]
        for _ in 0..<2 { #expect(try server.ask("GET", "/api/tasks", token: tokens[0], cookies).status == 200) }
        let refused = try server.ask("GET", "/api/tasks", token: tokens[1])
        #expect(refused.status == 401 && refused.text.contains("\"code\":\"token.too_long\""), "\(refused.text)")
        _ = try server.process.await { $0.contains("\"refusal\":\"too_long\"") ? true : nil }
        let cookied = try exchange(stage.mockPort, "GET", "/_mock", ["Cookie": String(repeating: "a=b; ", count: 3300)])
        #expect(cookied.status == 200)
        #expect(try server.stop() == .exit(0))
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `A stop waits for the request under way, and ends a stream in order`(signal: Int32) throws {
        let stage = try Stage()
        let server = try stage.server()
        let token = try stage.token()
        let client = try server.beginToAdd("{\"task\":", of: 16, token: token)
        let stream = try server.stream(token: token)
        server.process.send(signal)
        _ = try stream.read(to: "server.stopping")
        _ = try server.process.await { $0.contains("\"event\":\"stopping\"") ? true : nil }
        try eventuallyBlocking("no balancer sends more") {
            let answer = try exchange(server.adminPort, "GET", "/readyz")
            return answer.status == 503 && answer.text.hasPrefix("not ready: stopping")
        }
        try client.send("\"Late\"} ")
        #expect(try client.response(to: .post)?.status == 201)
        #expect(try server.process.wait() == .exit(0))
        #expect(server.process.output.contains("\"event\":\"stopped\""))
        #expect(try stage.server().texts(token: token) == ["Late"])
    }

    @Test func `A server that is told to stop serves on for as long as balancers need to notice`() throws {
        let stage = try Stage()
        let server = try stage.server(["TASKS_SHUTDOWN_DELAY": "200s"])
        let token = try stage.token()
        server.process.send(SIGTERM)
        try eventuallyBlocking("balancers learn of it") {
            try exchange(server.port, "GET", "/readyz").text.hasPrefix("not ready: stopping")
        }
        let answer = try server.add("Late", token: token)
        #expect(answer.status == 201)
        // A second signal waits for nothing.
        server.process.send(SIGTERM)
        #expect(try server.process.wait() == .exit(1))
    }

    @Test func `A stop does not wait longer than its patience`() throws {
        let stage = try Stage()
        // By default it waits for ten seconds.
        try expectDuration(below: .seconds(8)) {
            let server = try stage.server(["TASKS_SHUTDOWN_PATIENCE": "500ms"])
            let client = try server.beginToAdd("{", of: 9, token: stage.token())
            let start = ContinuousClock.now
            #expect(try server.stop() == .exit(0))
            let duration = ContinuousClock.now - start
            #expect(duration > .milliseconds(400))
            withExtendedLifetime(client) {}
            return duration
        }
    }

    @Test(
        "Pages and apps of other origins can read every refusal, and compare as origins",
        arguments: [
            "*", "https://App.Example.com:443/",
            "capacitor://localhost,ionic://localhost,Tauri://localhost,https://app.example.com",
        ])
    func refusalsOfOtherOrigins(setting: String) throws {
        let stage = try Stage()
        let server = try stage.server(["TASKS_CORS_ORIGINS": setting])
        let several = setting.contains(",")
        for origin in several ? ["https://app.example.com", "tauri://localhost"] : ["https://app.example.com"] {
            let fields = "Host: x\r\nOrigin: \(origin)\r\n"
            // The last one is refused by libmicrohttpd before it has read the origin.
            let requests = [
                ("GET /a%2Fb HTTP/1.1\r\n\(fields)\r\n", 400, true),
                ("POST /api/tasks HTTP/1.1\r\n\(fields)Expect: tea\r\nContent-Length: 1\r\n\r\n", 417, true),
                ("GET /\r\n\(fields)\r\n", 400, false),
            ]
            for (request, status, isRead) in requests {
                let answer = try firstConnection(to: server.port).ask(request)
                #expect(answer?.status == status, "\(request.prefix(60))")
                let allowed = setting == "*" ? "*" : isRead || !several ? origin : nil
                #expect(answer?.headers["Access-Control-Allow-Origin"] == allowed, "\(request.prefix(60))")
            }
        }
        let stranger = try server.ask("GET", "/a%2Fb", ["Origin": "https://other.example.com"])
        #expect(stranger.headers["Access-Control-Allow-Origin"] == (setting == "*" ? "*" : nil))
    }

    @Test func `Metrics and keys are shown on the listener of the operators only (V-165)`() throws {
        let stage = try Stage()
        let server = try stage.server()
        let token = try stage.token()
        let added = try server.add("Count me", token: token)
        #expect(added.status == 201)
        #expect(try server.ask("GET", "/api/tasks", token: "nonsense").status == 401)
        let owner = try #require(try JSONValue(parsing: Array(added.text.utf8)).object?["owner"]?.string)
        let unknown = ChangePoint(origin: 7, number: 7).token(for: Owner(owner))
        #expect(try server.ask("GET", "/api/tasks/changes?since=\(unknown)", token: token).status == 410)
        let metrics = try exchange(server.adminPort, "GET", "/metrics")
        #expect(metrics.status == 200)
        #expect(metrics.headers["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
        let lines = metrics.text.split(separator: "\n")
        for line in [
            "tasks_http_requests_total{method=\"POST\",status=\"201\"} 1",
            "tasks_http_requests_total{method=\"GET\",status=\"401\"} 1",
            "tasks_http_requests_total{method=\"GET\",status=\"410\"} 1",
            "tasks_keys_state{state=\"fresh\"} 1", "tasks_log_lines_dropped_total 0",
            "tasks_token_cache_entries 1", "tasks_token_verification_duration_seconds_count 1",
        ] {
            #expect(lines.contains { $0 == line }, "\(line)")
        }
        #expect(lines.allSatisfy { $0.hasPrefix("#") || $0.split(separator: " ").count == 2 })
        #expect(try exchange(server.adminPort, "GET", "/readyz").text.contains("\nkid "))
        #expect(try !server.ask("GET", "/readyz").text.contains("kid"))
        #expect(try server.ask("GET", "/metrics").status == 404)
        #expect(try exchange(server.adminPort, "GET", "/api/tasks").status == 404)
        #expect(try exchange(server.adminPort, "POST", "/metrics").status == 405)
    }
}
