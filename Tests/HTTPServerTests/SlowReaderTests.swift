import Glibc
import HTTP
import HTTPServer
import Support
import Testing

/// The absolute deadline is a minute in all of these.
@Suite("A client that reads a long answer too slowly loses it", .timeLimit(.minutes(15)))
struct SlowReaderTests {
    private static let length = 1 << 20

    private struct Library: RequestHandler {
        func decide(on head: RequestHead) -> Decision {
            .respond(Response(200, body: [UInt8](repeating: 0x61, count: SlowReaderTests.length)))
        }
    }

    private func server(_ rate: Double, grace: Duration) throws -> HTTPServer {
        var limits = ServerLimits()
        limits.answerRate = rate
        limits.answerRateGrace = grace
        return try HTTPServer(port: 0, limits: limits, handler: Library())
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
