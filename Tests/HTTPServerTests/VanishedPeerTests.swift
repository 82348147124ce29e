import Basics
import Glibc
import Platform
import Support
import Synchronization
import Testing

@testable import HTTPServer

@Suite("Clients that have left give their connections back")
struct VanishedPeerTests {
    private let handler = EchoHandler()

    private func server() throws -> HTTPServer {
        var limits = ServerLimits()
        (limits.connections, limits.loops) = (100, 2)
        (limits.headerTime, limits.idleTime) = (.seconds(600), .seconds(600))
        return try HTTPServer(port: 0, limits: limits, handler: handler)
    }

    @Test func `Many more clients that left than there are connections do not keep a good client waiting`() throws {
        var limits = ServerLimits()
        limits.connections = 20
        limits.loops = 2
        limits.headerTime = .seconds(60)
        let server = try HTTPServer(port: 0, limits: limits, handler: handler)
        for _ in 0..<120 { try RawClient(port: server.port).send("GET / HTTP/1.1\r\nHo") }
        let began = SystemTime().monotonicNanoseconds
        let client = try RawClient(port: server.port, timeout: 60)
        #expect(try client.get("/a")?.status == 200)
        // Each batch of 20 would wait a minute for the deadline of the header block.
        #expect(SystemTime().monotonicNanoseconds - began < 50_000_000_000)
        eventuallyBlocking { server.statistics.connections == 1 }
        #expect(server.statistics.connectionsDisconnected > 0)
        #expect(server.statistics.deadlines.isEmpty)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHo", "GET / HT", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab",
        "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\nab",
    ])
    func `A client that leaves gives its connection back, whatever it sent before`(text: String) throws {
        let server = try server()
        for _ in 0..<20 { try RawClient(port: server.port).send(text) }
        eventuallyBlocking { server.statistics.connectionsOpened == 20 }
        eventuallyBlocking { server.statistics.connections == 0 }
        #expect(server.statistics.deadlines[.header] == nil && server.statistics.deadlines[.idle] == nil)
    }

    @Test(arguments: ["/a", "/wait", "/read-then-wait"])
    func `A client that closes only its half after a whole request is answered`(path: String) throws {
        let server = try server()
        let client = try RawClient(port: server.port)
        let body = path == "/read-then-wait" ? "hello" : ""
        try client.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        client.finishSending()
        if path != "/a" {
            eventuallyBlocking { handler.waiting.withLock { !$0.isEmpty } }
            // This is longer than several checks of the enforcing thread take.
            usleep(700_000)
            handler.release()
        }
        #expect([200, 201].contains(try client.response()?.status))
        eventuallyBlocking { server.statistics.connections == 0 }
    }

    @Test("A client that resets while a handler works is not waited for, and the handler, which is cancelled, ends")
    func reset() throws {
        let server = try server()
        for count in 1...10 {
            let client = try RawClient(port: server.port)
            client.resetWhenClosed()
            try client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
            // A reset that comes before the request is read takes the request along.
            eventuallyBlocking { handler.waiting.withLock { $0.count } == count }
        }
        eventuallyBlocking { server.statistics.connections == 0 && server.statistics.suspended == 0 }
        handler.release()
        eventuallyBlocking { handler.cancelled.load(ordering: .relaxed) == 10 }
        // A client that stays is served to the end.
        let client = try RawClient(port: server.port)
        try client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        eventuallyBlocking { handler.waiting.withLock { $0.count } == 1 }
        handler.release()
        #expect(try client.response()?.status == 200)
        #expect(handler.cancelled.load(ordering: .relaxed) == 10)
    }
}

@Suite("Connections are counted by the address of the client")
struct ClientAddressTests {
    private let handler = EchoHandler()
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { IPAddressRange($0) }

    private func server(_ change: (inout ServerLimits) -> Void) throws -> HTTPServer {
        var limits = ServerLimits()
        limits.perAddress = 2
        change(&limits)
        return try HTTPServer(port: 0, limits: limits, handler: handler)
    }

    private func peer(_ fields: String, on server: HTTPServer) throws -> String {
        let client = try RawClient(port: server.port)
        try client.send("GET /peer HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        return try client.response()?.text ?? ""
    }

    @Test func `A client with enough connections gets no more, and does again later`() throws {
        let server = try server { _ in }
        do {
            let clients = try (0..<2).map { _ in try RawClient(port: server.port) }
            for client in clients {
                #expect(try client.get("/")?.status == 200)
            }
            let third = try RawClient(port: server.port)
            #expect(third.isClosedByServer)
            #expect(server.statistics.connectionsRefused == 1)
        }
        eventuallyBlocking { server.statistics.connections == 0 }
        #expect(try peer("", on: server) == "127.0.0.1")
    }

    @Test func `Addresses of one network of IPv6 are one client, those of IPv4 are not`() throws {
        var limits = ServerLimits()
        limits.perAddress = 2
        let slots = ConnectionSlots(limits)
        let taken = try ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1", "192.0.2.1", "192.0.2.2"].map {
            slots.take(try #require(IPAddress($0)))
        }
        #expect(taken == [true, true, false, true, true, true])
        slots.release(try #require(IPAddress("2001:db8::9")))
        #expect(slots.take(try #require(IPAddress("2001:db8::3"))))
    }

    @Test(arguments: [false, true])
    func `Those of this machine and of trusted proxies are not counted`(trusted: Bool) throws {
        let server = try server { limits in
            if trusted { limits.trustedProxies = Self.loopback } else { limits.unlimited = Self.loopback }
        }
        let clients = try (0..<5).map { _ in try RawClient(port: server.port) }
        for client in clients { try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
        for client in clients { #expect(try client.response()?.status == 200) }
    }

    @Test func `Only the statement of a trusted proxy about its client is used`() throws {
        let stranger = try server { $0.unlimited = Self.loopback }
        let fields = "X-Forwarded-For: 203.0.113.9\r\n"
        #expect(try peer(fields, on: stranger) == "127.0.0.1")
        let proxied = try server { $0.trustedProxies = Self.loopback }
        #expect(try peer(fields, on: proxied) == "203.0.113.9")
        #expect(try peer("Forwarded: for=\"[2001:db8::7]:80\"\r\n", on: proxied) == "2001:db8::7")
        #expect(try peer("X-Forwarded-For: 203.0.113.9, 127.0.0.2\r\n", on: proxied) == "203.0.113.9")
        #expect(try peer("X-Forwarded-For: <b>\r\n", on: proxied) == "127.0.0.1")
        #expect(try peer("", on: proxied) == "127.0.0.1")
    }

    @Test
    func `The requests under way of one client of a proxy are bounded, also where the client is unclear`() throws {
        let server = try server { $0.trustedProxies = Self.loopback }
        for field in [
            "X-Forwarded-For: 203.0.113.9", "Forwarded: for=unknown", "Forwarded: for=\"[2001:db8::#]\"",
        ] {
            // The number of the client takes the place of the mark: its address within one network.
            let request = { (path: String, number: Int) in
                "GET \(path) HTTP/1.1\r\nHost: h\r\n\(field.replacing("#", with: "\(number)"))\r\n\r\n"
            }
            let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
            for (number, client) in clients.prefix(2).enumerated() { try client.send(request("/wait", number)) }
            eventuallyBlocking { handler.waiting.withLock { $0.count } == 2 }
            try clients[2].send(request("/a", 2))
            let refused = try #require(try clients[2].response())
            #expect(refused.status == 429 && refused.text.contains("request.too_many_at_once"))
            #expect(try peer("X-Forwarded-For: 203.0.113.10\r\n", on: server) == "203.0.113.10")
            #expect(try peer("", on: server) == "127.0.0.1")
            handler.release()
            for client in clients.prefix(2) { #expect(try client.response()?.status == 200) }
            // A request is under way until its connection has noticed that the answer is sent.
            try eventuallyBlocking {
                try clients[2].send(request("/a", 2))
                return try clients[2].response()?.status == 200
            }
        }
    }
}
