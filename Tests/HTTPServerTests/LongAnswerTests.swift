import Glibc
import HTTP
import HTTPServer
import Platform
import Support
import Synchronization
import Testing

private func pattern(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

/// libmicrohttpd sends content from where it is.
@Suite("Long answers are whole, shared, and released", .serialized)
struct LongAnswerTests {
    fileprivate static let length = 32 << 20

    /// Under `/same` always the same bytes, elsewhere new ones each time, of a pattern of this length.
    private struct Library: RequestHandler {
        let same = [UInt8](repeating: 0x61, count: LongAnswerTests.length)

        func decide(on head: RequestHead) -> Decision {
            switch head.target.path.first {
            case "same": .respond(Response(200, body: same))
            case let text: .respond(Response(200, body: text.flatMap { Int($0) }.map(pattern) ?? []))
            }
        }
    }

    @Test(arguments: [16383, 16384, 16385, 300_000])
    func `Every byte arrives, around the length from which an answer is long`(length: Int) throws {
        let server = try HTTPServer(port: 0, handler: Library())
        defer { server.stop(patience: .zero) }
        let client = try RawClient(port: server.port, timeout: 60)
        for _ in 0..<2 {
            let response = try #require(try client.get("/\(length)"))
            #expect(response.body == pattern(length))
        }
    }

    @Test func `Clients that are sent the same body share it`() throws {
        let server = try HTTPServer(port: 0, handler: Library())
        defer { server.stop(patience: .zero) }
        let before = ProcessFacts.residentBytes
        let clients = try (0..<24).map { _ in try RawClient(port: server.port, timeout: 60) }
        for client in clients { try client.send("GET /same HTTP/1.1\r\nHost: h\r\n\r\n") }
        // The first bytes of each are there: so its answer is made.
        for client in clients {
            #expect(client.isAnswered)
        }
        #expect(ProcessFacts.residentBytes - before < 12 * Self.length)
    }

    /// Counts those of itself that there are.
    private final class Counted: Sendable {
        static let all = Atomic(0)

        init() { Self.all.add(1, ordering: .relaxed) }
        deinit { Self.all.subtract(1, ordering: .relaxed) }
    }

    @Test func `What is kept with an answer is kept until it is sent or given up`() throws {
        var limits = ServerLimits()
        // No end of a connection releases anything here.
        (limits.answerRateGrace, limits.requestTime, limits.idleTime) = (.seconds(600), .seconds(600), .seconds(600))
        let server = try HTTPServer(port: 0, limits: limits, handler: Keeper(length: Self.length))
        defer { server.stop(patience: .zero) }
        let reader = try RawClient(port: server.port, timeout: 60)
        var leaver: RawClient? = try RawClient(port: server.port, timeout: 60, receiveBuffer: 4096)
        for client in [reader, leaver] { try client?.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
        #expect(try leaver?.head()?.status == 200)
        #expect(try reader.response()?.body.count == Self.length)
        // The reader's is released though its connection stays.
        eventuallyBlocking { Counted.all.load(ordering: .relaxed) == 1 }
        leaver = nil
        eventuallyBlocking { Counted.all.load(ordering: .relaxed) == 0 }
    }

    @Test func `What no one takes stays where it is counted, not in the system's buffers`() throws {
        let server = try HTTPServer(port: 0, handler: Keeper(length: 512 << 10))
        defer { server.stop(patience: .zero) }
        var client: RawClient? = try RawClient(port: server.port, timeout: 60, receiveBuffer: 4096)
        try client?.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client?.head()?.status == 200)
        // The deadline for slow readers is long after this.
        for _ in 0..<30 {
            #expect(Counted.all.load(ordering: .relaxed) == 1)
            usleep(10_000)
        }
        client = nil
        eventuallyBlocking { Counted.all.load(ordering: .relaxed) == 0 }
    }

    private struct Keeper: RequestHandler {
        let length: Int

        func decide(on head: RequestHead) -> Decision {
            var response = Response(200, body: [UInt8](repeating: 0x62, count: length))
            response.kept = Counted()
            return .respond(response)
        }
    }
}

/// The absolute deadline is ten minutes in all of these.
@Suite("A client that reads a long answer too slowly loses it")
struct SlowReaderTests {
    private static let length = 1 << 20

    @Test func `A client that stops after most of it is cut off as soon as one that never began`() throws {
        let server = try server(8192, grace: .milliseconds(300))
        defer { server.stop(patience: .zero) }
        let client = try reader(server)
        try client.skipAll(Self.length - (256 << 10))
        eventuallyBlocking { server.statistics.deadlines == [.answer: 1] }
    }

    private func server(_ rate: Double, grace: Duration) throws -> HTTPServer {
        var limits = ServerLimits()
        limits.requestTime = .seconds(600)
        limits.answerRate = rate
        limits.answerRateGrace = grace
        return try HTTPServer(port: 0, limits: limits, handler: BigHandler(length: Self.length))
    }

    private func reader(_ server: HTTPServer) throws -> RawClient {
        let client = try RawClient(port: server.port, timeout: 60, receiveBuffer: 4096)
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.head()?.status == 200)
        return client
    }

    @Test func `A client that reads all the time, but too little, is cut off`() throws {
        let server = try server(1e9, grace: .milliseconds(500))
        defer { server.stop(patience: .zero) }
        let client = try reader(server)
        var taken = 0
        try eventuallyBlocking {
            let count = try client.skip(atMost: 1000)
            taken += count
            return count == 0
        }
        #expect(taken < Self.length)
        eventuallyBlocking { server.statistics.deadlines == [.answer: 1] }
    }

    @Test func `A client that is slow, but fast enough, gets all of it`() throws {
        let server = try server(1, grace: .milliseconds(500))
        defer { server.stop(patience: .zero) }
        let client = try reader(server)
        var taken = 0
        // A second and more: two milliseconds for each piece.
        try eventuallyBlocking {
            let count = try client.skip(atMost: 2048)
            try #require(count > 0)
            taken += count
            return taken == Self.length
        }
        #expect(taken == Self.length && server.statistics.deadlines == [:])
    }
}
