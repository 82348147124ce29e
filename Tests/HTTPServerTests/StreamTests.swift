import Basics
import Glibc
import HTTP
import HTTPServer
import Platform
import Support
import Synchronization
import Testing

@Suite("Streams send what comes into being, as long as their clients are there")
struct StreamTests {
    /// Answers each request with a stream that the test writes to.
    private final class Handler: RequestHandler {
        let streams = Mutex<[ResponseStream]>([])
        let drained = Atomic<Int>(0)
        let closed = Atomic<Int>(0)
        let released = Atomic<Int>(0)

        func decide(on head: RequestHead) -> Decision {
            guard head.target.path == ["stream"] else { return .respond(Response(200, text: "plain")) }
            let stream = ResponseStream(filler: Array(": \n\n".utf8)) { [self] in
                drained.add(1, ordering: .relaxed)
            } onClosed: { [self] in
                closed.add(1, ordering: .relaxed)
            }
            streams.withLock { $0.append(stream) }
            var response = Response(200, headers: ["Content-Type": "text/event-stream"])
            response.stream = stream
            return .later { [response] in .respond(response) }
        }

        /// The stream of this number, as soon as it is there.
        func stream(_ number: Int = 0) -> ResponseStream {
            eventuallyBlocking { streams.withLock { $0.count > number } }
            return streams.withLock { $0[number] }
        }
    }

    private final class Lease: Sendable {
        private let release: @Sendable () -> Void
        init(_ release: @escaping @Sendable () -> Void) { self.release = release }
        deinit { release() }
    }

    private let handler = Handler()

    private func server(_ change: (inout ServerLimits) -> Void = { _ in }) throws -> HTTPServer {
        var limits = ServerLimits()
        limits.loops = 2
        limits.silence = .seconds(3600)
        change(&limits)
        return try HTTPServer(port: 0, limits: limits, handler: handler)
    }

    private func opened(
        _ server: HTTPServer, _ request: String = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", receiveBuffer: Int32? = nil
    ) throws -> (client: RawClient, head: RawResponse) {
        let client = try RawClient(port: server.port, receiveBuffer: receiveBuffer)
        try client.send(request)
        return (client, try #require(try client.head()))
    }

    // MARK: pieces

    @Test func `The head and each piece arrive at once, and the connection is kept after the end`() throws {
        let server = try server()
        let (client, head) = try opened(server)
        #expect(head.status == 200 && head.headers["Transfer-Encoding"] == "chunked")
        #expect(head.headers["Content-Length"] == nil && head.headers["Connection"] == nil)
        for number in 1...3 {
            #expect(handler.stream().send(Array("piece \(number)\n".utf8)))
            #expect(try client.read(to: "\n\r\n") == "8\r\npiece \(number)\n\r\n")
            eventuallyBlocking { handler.drained.load(ordering: .relaxed) == number }
        }
        handler.stream().end(Array("bye".utf8))
        #expect(try client.read(to: "0\r\n\r\n") == "3\r\nbye\r\n0\r\n\r\n")
        eventuallyBlocking { handler.closed.load(ordering: .relaxed) == 1 }
        #expect(try client.get("/plain")?.text == "plain")
        #expect(server.statistics.streams == 0)
    }

    @Test func `A second piece is refused until the first was sent, and every piece after the end`() throws {
        let stream = ResponseStream(filler: [], onDrained: {}, onClosed: {})
        #expect(stream.send([1]) && !stream.send([2]))
        stream.end()
        #expect(!stream.send([3]) && stream.condition(isStopping: false) == .hasContent)
    }

    @Test(arguments: [false, true])
    func `A stream is over when all is sent and it has ended, or its server stops`(isStopping: Bool) {
        let stream = ResponseStream(filler: [], onDrained: {}, onClosed: {})
        #expect(stream.condition(isStopping: isStopping) == (isStopping ? .isOver : .isEmpty))
        stream.send([1])
        #expect(stream.condition(isStopping: isStopping) == .hasContent)
        stream.end()
        #expect(stream.condition(isStopping: isStopping) == .hasContent)
        var byte: UInt8 = 0
        #expect(withUnsafeMutableBytes(of: &byte) { stream.take(into: $0) } == 1 && byte == 1)
        #expect(stream.condition(isStopping: isStopping) == .isOver)
    }

    @Test func `No piece is lost when threads send while loops suspend`() throws {
        let server = try server()
        let clients = try (0..<16).map { _ in try opened(server).client }
        let streams = clients.indices.map { handler.stream($0) }
        for number in 0..<200 {
            for stream in streams { eventuallyBlocking { stream.send(Array("<\(number)>".utf8)) } }
        }
        for stream in streams { stream.end() }
        for client in clients {
            let text = try client.read(to: "\r\n0\r\n\r\n")
            let numbers = text.split(separator: "<").dropFirst().compactMap { Int($0.prefix { $0 != ">" }) }
            #expect(numbers == Array(0..<200))
        }
    }

    @Test func `HTTP 1.0 gets no chunks, and the end of the connection`() throws {
        let server = try server()
        let (client, head) = try opened(server, "GET /stream HTTP/1.0\r\nHost: h\r\n\r\n")
        #expect(head.headers["Transfer-Encoding"] == nil)
        handler.stream().send([UInt8](repeating: 0x61, count: 3000))
        handler.stream().end(Array("bye".utf8))
        #expect(try client.rest().count == 3003)
    }

    @Test func `HEAD gets the head only, and the stream is over`() throws {
        let server = try server()
        let (client, head) = try opened(server, "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(head.status == 200 && head.headers["Content-Length"] == nil)
        eventuallyBlocking { handler.closed.load(ordering: .relaxed) == 1 }
        #expect(try client.rest().isEmpty)
    }

    // MARK: time

    @Test func `A silent stream sends its filler, however long a request may take`() throws {
        let server = try server { limits in
            (limits.silence, limits.requestTime) = (.milliseconds(40), .milliseconds(100))
            (limits.suspensionTime, limits.idleTime) = (.milliseconds(100), .milliseconds(100))
            limits.answerRateGrace = .seconds(60)
        }
        let client = try opened(server).client
        let end = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < end { #expect(try client.read(to: "4\r\n: \n\n\r\n").utf8.count == 9) }
        #expect(handler.stream().send(Array("late".utf8)))
        #expect(try client.read(to: "late\r\n").hasSuffix("4\r\nlate\r\n"))
        #expect(server.statistics.deadlines.isEmpty && server.statistics.suspended == 0)
        #expect(handler.drained.load(ordering: .relaxed) <= 1)
    }

    @Test func `A reader that is too slow is ended, and its piece is released`() throws {
        let server = try server { ($0.answerRate, $0.answerRateGrace) = (1e12, .milliseconds(50)) }
        let client = try opened(server, receiveBuffer: 4096).client
        handler.stream().send(
            [UInt8](repeating: 0x61, count: 32 << 20),
            keeping: Lease { [handler] in handler.released.add(1, ordering: .relaxed) })
        eventuallyBlocking { handler.closed.load(ordering: .relaxed) == 1 }
        eventuallyBlocking { server.statistics.deadlines == [.answer: 1] && server.statistics.streams == 0 }
        #expect(handler.drained.load(ordering: .relaxed) == 0)
        #expect(!handler.stream().send([1]))
        eventuallyBlocking { handler.released.load(ordering: .relaxed) == 1 }
        withExtendedLifetime(client) {}
    }

    @Test(arguments: [0, 3 << 20])
    func `A reader that stops is ended as one of a list is, whatever it has read before`(count: Int) throws {
        let server = try server { $0.answerRateGrace = .milliseconds(300) }
        let client = try opened(server, receiveBuffer: 4096).client
        handler.stream().send([UInt8](repeating: 0x61, count: 4 << 20))
        try client.skipAll(count)
        // At 8 KiB a second the piece would take more than eight minutes.
        eventuallyBlocking { server.statistics.deadlines == [.answer: 1] && server.statistics.streams == 0 }
        withExtendedLifetime(client) {}
    }

    @Test func `A reader at twice the least rate gets a long piece, however long that takes`() throws {
        let (rate, length) = (65536.0, 384 << 10)
        let server = try server { ($0.answerRate, $0.answerRateGrace) = (rate, .seconds(1)) }
        let client = try opened(server, receiveBuffer: 4096).client
        handler.stream().send([UInt8](repeating: 0x61, count: length))
        let begun = ContinuousClock.now
        for taken in stride(from: 0, to: length, by: 4096) {
            try client.skipAll(4096)
            let due = begun + .seconds(Double(taken) / rate / 2)
            while ContinuousClock.now < due { usleep(1000) }
        }
        handler.stream().end()
        #expect(try client.read(to: "\r\n0\r\n\r\n").utf8.count > 0 && server.statistics.deadlines.isEmpty)
    }

    // MARK: ends

    @Test(arguments: ["close", "reset", "half"])
    func `A client that leaves ends its silent stream`(how: String) throws {
        let server = try server()
        var client: RawClient? = try opened(server).client
        eventuallyBlocking { server.statistics.streams == 1 }
        handler.stream().send(Array("piece".utf8))
        _ = try client?.read(to: "piece\r\n")
        // From then on the stream is silent, and the deadline thread sees the end; before, the loop would.
        eventuallyBlocking { handler.drained.load(ordering: .relaxed) == 1 }
        if how == "reset" { client?.resetWhenClosed() }
        if how == "half" { client?.finishSending() } else { client = nil }
        eventuallyBlocking { handler.closed.load(ordering: .relaxed) == 1 && server.statistics.connections == 0 }
        eventuallyBlocking { server.statistics.connectionsDisconnected == 1 && server.statistics.streams == 0 }
    }

    @Test func `A stop ends open streams in order and at once`() throws {
        let server = try server()
        let clients = try (0..<8).map { _ in try opened(server).client }
        handler.stream(7).end(Array("bye".utf8))
        let begun = ContinuousClock.now
        server.stop(patience: .seconds(120))
        #expect(ContinuousClock.now - begun < .seconds(60))
        for client in clients { #expect(try client.rest().suffix(5) == Array("0\r\n\r\n".utf8)) }
        #expect(handler.closed.load(ordering: .relaxed) == 8)
    }

    @Test func `A stop sends all of a piece that is on its way`() throws {
        let server = try server()
        let client = try opened(server, receiveBuffer: 4096).client
        handler.stream().send([UInt8](repeating: UInt8(ascii: "z"), count: 1 << 20))
        let stopper = try NamedThread.start("stopper") { server.stop(patience: .seconds(120)) }
        defer { stopper.join() }
        let all = try client.rest()
        #expect(all.count { $0 == UInt8(ascii: "z") } == 1 << 20 && all.suffix(5) == Array("0\r\n\r\n".utf8))
    }

    @Test func `A stream whose answer is dropped is closed`() {
        let closed = Atomic<Int>(0)
        var stream: ResponseStream? = ResponseStream(filler: [], onDrained: {}) {
            closed.add(1, ordering: .relaxed)
        }
        stream?.close()
        stream = nil
        #expect(closed.load(ordering: .relaxed) == 1)
        _ = ResponseStream(filler: [], onDrained: {}) { closed.add(1, ordering: .relaxed) }
        #expect(closed.load(ordering: .relaxed) == 2)
    }

    // MARK: limits

    @Test func `Streams take no connection and no wait from requests`() throws {
        let server = try server { limits in
            (limits.connections, limits.streams, limits.suspensions) = (12, 8, 1)
            limits.idleTime = .seconds(3600)
        }
        let streams = try (0..<8).map { _ in try opened(server).client }
        eventuallyBlocking { server.statistics.streams == 8 }
        let others = try (0..<4).map { _ in try RawClient(port: server.port) }
        for client in others { #expect(try client.get("/plain")?.status == 200) }
        #expect(server.statistics.connections == 12)
        withExtendedLifetime((streams, others)) {}
    }

    @Test func `Streams take no connection from their address, and count again when they are over`() throws {
        let server = try server { $0.perAddress = 2 }
        let streams = try (0..<5).map { number in
            defer { eventuallyBlocking { server.statistics.streams == number + 1 } }
            return try opened(server).client
        }
        var others = try (0..<2).map { _ in try RawClient(port: server.port) }
        for client in others { #expect(try client.get("/plain")?.status == 200) }
        #expect(try RawClient(port: server.port).isClosedByServer)
        handler.stream(0).end()
        _ = try streams[0].read(to: "0\r\n\r\n")
        eventuallyBlocking { server.statistics.streams == 4 }
        others.removeLast()
        eventuallyBlocking { server.statistics.connections == 6 }
        // The two connections are another one, and the one whose stream is over.
        #expect(try RawClient(port: server.port).isClosedByServer)
        #expect(try streams[0].get("/plain")?.status == 200)
        withExtendedLifetime((streams, others)) {}
    }

    @Test func `Streams behind a proxy are no requests at once of their client`() throws {
        let proxies = ["127.0.0.0/8"].compactMap { IPAddressRange($0) }
        let server = try server { ($0.perAddress, $0.trustedProxies) = (1, proxies) }
        let fields = "Host: h\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n"
        let streams = try (0..<3).map { _ in
            let (client, head) = try opened(server, "GET /stream HTTP/1.1\r\n\(fields)")
            #expect(head.status == 200)
            return client
        }
        let other = try RawClient(port: server.port)
        for _ in 0..<3 { #expect(try other.ask("GET /plain HTTP/1.1\r\n\(fields)")?.status == 200) }
        withExtendedLifetime(streams) {}
    }
}
