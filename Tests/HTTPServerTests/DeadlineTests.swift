import Glibc
import HTTP
import HTTPServer
import Platform
import Support
import Synchronization
import Testing

@Suite("No client and no handler holds a connection longer than it may (V-145)")
struct DeadlineTests {
    /// Limits that no test comes near, to shorten one of them.
    private func server(
        _ handler: EchoHandler = EchoHandler(), _ change: (inout ServerLimits) -> Void
    ) throws -> HTTPServer {
        var limits = ServerLimits()
        (limits.headerTime, limits.suspensionTime, limits.requestTime) = (.seconds(300), .seconds(300), .seconds(300))
        change(&limits)
        return try HTTPServer(port: 0, limits: limits, handler: handler)
    }

    /// Sends a byte every 20 ms until the server ends the connection; the seconds that took.
    private func drip(_ start: String, on server: HTTPServer) throws -> Double {
        let client = try RawClient(port: server.port, timeout: 0.02)
        let began = SystemTime().monotonicNanoseconds
        try client.send(start)
        while SystemTime().monotonicNanoseconds - began < 30_000_000_000 {
            do throws(RawClient.Failure) {
                if try client.response() == nil { break }
            } catch {
                guard error == .timeout else { break }
            }
            do throws(RawClient.Failure) { try client.send("x") } catch { break }
        }
        return Double(SystemTime().monotonicNanoseconds - began) / 1e9
    }

    private static let post = "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 999\r\n\r\n"

    /// Requests that a client sends slowly, each with the limit that ends its connection.
    static let drips:
        [(name: String, start: String, deadline: Deadline?, limit: @Sendable (inout ServerLimits) -> Void)] = [
            (
                "a header block", "GET / HTTP/1.1\r\nX-Drip: ", .header, { $0.headerTime = .milliseconds(300) }
            ),
            ("a request line", "GET /", nil, { $0.headerTime = .milliseconds(300) }),
            (
                "a body", post, .body,
                { ($0.bodyTime, $0.bodyRateGrace) = (.milliseconds(300), .seconds(60)) }
            ),
            ("a slow body, long before its last moment", post, nil, { $0.bodyRateGrace = .milliseconds(300) }),
            (
                // The rate is more than the drips, and so little that the first body would be enough for half a minute.
                "a second body, for whose speed an earlier body does not count",
                post + String(repeating: "x", count: 999) + post, .body,
                { ($0.bodyRateGrace, $0.bodyRate) = (.milliseconds(300), 60) }
            ),
            (
                "a request as a whole", post, nil,
                { ($0.requestTime, $0.bodyRateGrace) = (.milliseconds(300), .seconds(60)) }
            ),
        ]

    @Test(arguments: drips.map(\.name))
    func `What comes byte by byte is cut off`(name: String) throws {
        let drip = try #require(Self.drips.first { $0.name == name })
        let server = try server { drip.limit(&$0) }
        #expect((0.2...25).contains(try self.drip(drip.start, on: server)))
        guard let deadline = drip.deadline else { return }
        eventuallyBlocking { server.statistics.deadlines == [deadline: 1] }
    }

    @Test func `A connection without a request is closed, from the start and after a response`() throws {
        let server = try server {
            $0.headerTime = .milliseconds(300)
            $0.idleTime = .milliseconds(200)
        }
        let silent = try RawClient(port: server.port)
        let kept = try RawClient(port: server.port)
        #expect(try kept.get("/")?.status == 200)
        #expect(kept.isClosedByServer)
        #expect(silent.isClosedByServer)
        eventuallyBlocking { server.statistics.deadlines == [.header: 1, .idle: 1] }
        eventuallyBlocking { server.statistics.connections == 0 }
    }

    @Test func `An old connection, or one of many requests, ends with an answer that says so`() throws {
        let aging = try server {
            $0.connectionTime = .milliseconds(300)
            $0.requestsPerConnection = .max
        }
        let old = try RawClient(port: aging.port)
        let began = SystemTime().monotonicNanoseconds
        try eventuallyBlocking { try old.get("/")?.headers["Connection"] == "close" }
        #expect(SystemTime().monotonicNanoseconds - began >= 290_000_000)
        #expect(old.isClosedByServer)
        let limited = try server { $0.requestsPerConnection = 3 }
        let busy = try RawClient(port: limited.port)
        for last in [nil, nil, "close"] { #expect(try busy.get("/")?.headers["Connection"] == last) }
        #expect(busy.isClosedByServer)
    }

    @Test func `At the limit a new connection takes the place of the one that is idle for the longest time`() throws {
        let handler = EchoHandler()
        defer { handler.releaseForGood() }
        let server = try server(handler) { $0.connections = 4 }
        let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
        for client in clients {
            #expect(try client.get("/")?.status == 200)
            // The clock by which they are compared has steps of 4 ms.
            SystemTime().sleep(nanoseconds: 20_000_000)
        }
        #expect(try clients[0].get("/")?.status == 200)
        try clients[2].send("GET /wait-forever HTTP/1.1\r\nHost: h\r\n\r\n")
        try clients[3].send("GET / HTTP/1.1\r\n")
        eventuallyBlocking { server.statistics.suspended == 1 }
        let new = try RawClient(port: server.port)
        #expect(try new.get("/")?.status == 200)
        #expect(clients[1].isClosedByServer)
        // Only those are ended that wait for a request.
        let next = try RawClient(port: server.port)
        #expect(try next.get("/")?.status == 200)
        #expect(clients[0].isClosedByServer)
        try clients[3].send("Host: h\r\n\r\n")
        #expect(try clients[3].response()?.status == 200)
        eventuallyBlocking { server.statistics.deadlines == [.idle: 2] }
    }

    /// Blocks the loop of a request under `/hold` until the test is done.
    private final class LoopHolder: RequestHandler {
        let held = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)

        func decide(on head: RequestHead) -> Decision {
            if head.target.path == ["hold"] {
                held.add(1, ordering: .relaxed)
                eventuallyBlocking { isOver.load(ordering: .relaxed) }
            }
            return .respond(Response(200, text: "plain"))
        }
    }

    @Test(arguments: [false, true])
    func `A request that has come is answered, though its loop is too busy to read it in time`(isFull: Bool) throws {
        let handler = LoopHolder()
        defer { handler.isOver.store(true, ordering: .relaxed) }
        var limits = ServerLimits()
        (limits.loops, limits.connections, limits.headerTime) = (2, 32, .seconds(300))
        limits.idleTime = isFull ? .seconds(300) : .seconds(3)
        let server = try HTTPServer(port: 0, limits: limits, handler: handler)
        let (asking, silent) = (try RawClient(port: server.port), try RawClient(port: server.port))
        for client in [asking, silent] {
            #expect(try client.get("/")?.status == 200)
            // The clock by which they are compared has steps of 4 ms.
            SystemTime().sleep(nanoseconds: 20_000_000)
        }
        var (others, spares): ([RawClient], [Int32]) = ([], [])
        defer { for spare in spares { close(spare) } }
        try eventuallyBlocking("both loops are held") {
            // The number of its socket decides about the loop: both even and odd ones must come.
            if others.count.isMultiple(of: 2) { spares.append(dup(STDERR_FILENO)) }
            others.append(try RawClient(port: server.port))
            try others.last?.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
            return handler.held.load(ordering: .relaxed) == 2
        }
        try asking.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        try eventuallyBlocking("the other one was ended") {
            if isFull { others.append(try RawClient(port: server.port)) }
            return server.statistics.deadlines[.idle] != nil
        }
        handler.isOver.store(true, ordering: .relaxed)
        #expect(try asking.response()?.status == 200)
        #expect(silent.isClosedByServer)
    }

    @Test(arguments: [(32 << 20, 1), (16_000, 900)])
    func `A response that is not read is cut off, also one of many short ones`(length: Int, count: Int) throws {
        var limits = ServerLimits()
        limits.requestTime = .milliseconds(300)
        // Only the end of the request counts here.
        limits.answerRateGrace = .seconds(600)
        let server = try HTTPServer(port: 0, limits: limits, handler: BigHandler(length: length))
        let client = try RawClient(port: server.port, receiveBuffer: 4096)
        try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", count: count))
        eventuallyBlocking { server.statistics.deadlines == [.answer: 1] }
    }

    @Test
    func `A handler that never answers: 503 by the server's own deadline, and the connection is good again`() throws {
        let handler = EchoHandler()
        let server = try server(handler) { $0.suspensionTime = .milliseconds(200) }
        let client = try RawClient(port: server.port)
        for count in 1...2 {
            let response = try #require(try client.get("/wait"))
            #expect(response.status == 503)
            #expect(response.headers["Retry-After"] != nil)
            // Now the handler is too late. It must neither answer nor resume anything, but run to its end.
            handler.release()
            eventuallyBlocking { handler.threads.withLock { $0.count } == count }
        }
        #expect(try client.get("/a")?.status == 200)
        eventuallyBlocking { server.statistics.suspended == 0 }
        eventuallyBlocking { server.statistics.deadlines == [.suspension: 2] }
    }

    @Test func `An answer that comes too late is not taken for that of the next request`() throws {
        let handler = EchoHandler()
        let server = try server(handler) { $0.suspensionTime = .seconds(1) }
        let client = try RawClient(port: server.port)
        // On a busy machine the second request may not be released within a second. Then the test tries again.
        try eventuallyBlocking("the second request is answered in time") {
            #expect(try client.get("/wait/first")?.status == 503)
            try client.send("GET /wait/second HTTP/1.1\r\nHost: h\r\n\r\n")
            eventuallyBlocking { handler.waiting.withLock { $0.count } == 2 }
            eventuallyBlocking { server.statistics.suspended == 1 || client.isAnswered }
            // The handlers are released in the order in which they began to wait.
            handler.release()
            let response = try #require(try client.response())
            #expect(response.status == 503 || response.text.contains("second"))
            return response.status == 200
        }
    }

    @Test func `More requests that wait than may: 503 at once`() throws {
        let handler = EchoHandler()
        let server = try server(handler) { $0.suspensions = 1 }
        let first = try RawClient(port: server.port)
        try first.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        eventuallyBlocking { server.statistics.suspended > 0 }
        let second = try RawClient(port: server.port)
        let refused = try #require(try second.get("/wait"))
        #expect(refused.status == 503)
        #expect(refused.text.contains("server.overloaded"))
        handler.release()
        #expect(try first.response()?.status == 200)
    }

    @Test func `A refused client that continues to send loses its connection`() throws {
        let server = try server { $0.bodyTime = .seconds(30) }
        let client = try RawClient(port: server.port)
        try client.send("POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n")
        // A byte every two milliseconds: it would take longer than this waits.
        eventuallyBlocking("the connection is cut") { (try? client.send("x")) == nil }
        eventuallyBlocking { server.statistics.deadlines == [.refusal: 1] }
    }
}
