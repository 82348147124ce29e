import HTTP
import HTTPServer
import Support
import TaskAPI
import Testing

@Suite("A stream of changes has what questions would answer, as it happens")
struct ChangeStreamTests {
    private let tested = TestedAPI(.inProcess) { $0.streams = 10 }

    private func server() throws -> HTTPServer {
        var limits = ServerLimits()
        (limits.headerTime, limits.suspensionTime, limits.requestTime) = (.seconds(300), .seconds(300), .seconds(300))
        limits.silence = .seconds(3600)
        return try HTTPServer(port: 0, limits: limits, handler: tested.api)
    }

    private func send(
        _ method: String, _ target: String, _ fields: String = "", as token: String = "alice", to server: HTTPServer
    ) throws -> RawClient {
        let client = try RawClient(port: server.port, timeout: 180)
        try client.send(
            "\(method) \(target) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n\(fields)\r\n")
        return client
    }

    private func add(_ text: String, to server: HTTPServer) throws {
        let body = #"{"task":"\#(text)"}"#
        let fields = "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        let client = try send("POST", "/api/tasks", fields, to: server)
        try client.send(body)
        #expect(try client.response()?.status == 201)
    }

    /// Runs a body that waits for the server, whose streams need a thread of the pool.
    private func waiting(_ body: @Sendable () throws -> Void) async throws {
        let thread = try OwnThread()
        defer { thread.end() }
        try await withTaskExecutorPreference(thread) { try body() }
    }

    private let events = "Accept: text/event-stream\r\n"

    private func opened(_ server: HTTPServer, _ fields: String = "") throws -> RawClient {
        let client = try send("GET", "/api/tasks/changes", events + fields, to: server)
        let head = try #require(try client.head())
        #expect(head.status == 200 && head.headers["Content-Type"] == "text/event-stream")
        #expect(
            head.headers["X-Accel-Buffering"] == "no" && head.headers["Cache-Control"]?.hasPrefix("private") == true)
        return client
    }

    /// The id of an event in this text.
    private func identifier(in event: String) throws -> String {
        try #require(event.split(separator: "\n").first { $0.hasPrefix("id: ") }).dropFirst(4).description
    }

    @Test func `It begins with the whole list, sends each change at once, and goes on where it broke`() async throws {
        try await waiting {
            let server = try server()
            defer { server.stop(patience: .zero) }
            try add("first", to: server)
            let client = try opened(server)
            let whole = try client.read(to: "\n\n")
            #expect(whole.contains("event: changes\n") && whole.contains(#""task":"first""#))
            try add("second", to: server)
            let second = try client.read(to: "\n\n")
            #expect(second.contains(#""task":"second""#) && !second.contains("first"))
            try #expect(send("DELETE", "/api/tasks/1", to: server).response()?.status == 204)
            let third = try client.read(to: "\n\n")
            #expect(third.contains(#""changed":[],"removed":[1]"#))
            let again = try opened(server, "Last-Event-ID: \(identifier(in: whole))\r\n").read(to: "\n\n")
            #expect(again.contains(#""task":"second""#) && again.contains(#""removed":[1]"#))
            // The same token serves a question.
            let question = try send("GET", "/api/tasks/changes?since=\(identifier(in: third))", to: server).response()
            #expect(question?.text.hasPrefix(#"{"changed":[],"removed":[]"#) == true)
        }
    }

    @Test func `It is refused before it begins, as a question is, and beyond eight of a person or all of a server`()
        async throws
    {
        try await waiting {
            let server = try server()
            defer { server.stop(patience: .zero) }
            let unknown = try send("GET", "/api/tasks/changes", events + "Last-Event-ID: x\r\n", to: server).response()
            #expect(unknown?.status == 400)
            #expect(
                try send("GET", "/api/tasks/changes", "Accept: application/json, text/event-stream\r\n", to: server)
                    .response()?.headers["Content-Type"]?.hasPrefix("application/json") == true)
            var clients: [RawClient] = []
            for _ in 0..<8 { clients.append(try opened(server)) }
            let ninth = try send("GET", "/api/tasks/changes", events, to: server).response()
            #expect(ninth?.status == 429 && ninth?.text.contains("stream.too_many") == true)
            let bobs = try (0..<3).map { _ in try send("GET", "/api/tasks/changes", events, as: "bob", to: server) }
            let statuses = try bobs.map { try $0.head()?.status ?? 0 }.sorted()
            #expect(statuses == [200, 200, 503])
            // A client that leaves makes room.
            clients.removeLast()
            eventuallyBlocking { tested.api.streams.statistics.open == 9 }
            clients.append(try opened(server))
        }
    }

    @Test func `It ends in order, with the reason, when the account is deleted, and at a stop`() async throws {
        try await waiting {
            let server = try server()
            let (deleted, stopped) = (
                try opened(server), try send("GET", "/api/tasks/changes", events, as: "bob", to: server)
            )
            for client in [deleted, stopped] { _ = try client.read(to: "\n\n") }
            #expect(try send("DELETE", "/api/me", "Confirm-Delete: yes\r\n", to: server).response()?.status == 204)
            #expect(
                try deleted.read(to: "}\n\n").contains(
                    #"event: end\#ndata: {"reason":"account.deleted"}"#))
            tested.api.streams.endAll(.stopping)
            #expect(try stopped.read(to: "}\n\n").contains("server.stopping"))
            server.stop(patience: .seconds(60))
            #expect(tested.api.streams.statistics.open == 0)
        }
    }
}
