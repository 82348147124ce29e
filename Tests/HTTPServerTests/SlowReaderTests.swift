import Glibc
import HTTP
import HTTPServer
import Platform
import Support
import Testing

/// The absolute deadline is a minute in all of these.
@Suite("Who takes a long answer too slowly loses it", .timeLimit(.minutes(15)))
struct SlowReaderTests {
    private static let length = 1 << 20

    private struct Library: RequestHandler {
        func decide(on head: RequestHead) -> Decision {
            .respond(Response(200, body: [UInt8](repeating: 0x61, count: SlowReaderTests.length)))
        }
    }

    private func server(_ rate: Double, grace: Double) throws -> HTTPServer {
        var limits = ServerLimits()
        limits.answerRate = rate
        limits.answerRateGraceSeconds = grace
        return try HTTPServer(port: 0, limits: limits, handler: Library())
    }

    private func reader(_ server: HTTPServer) throws -> RawClient {
        let client = try RawClient(port: server.port, timeout: 20, receiveBuffer: 4096)
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.head()?.status == 200)
        return client
    }

    @Test("who takes nothing")
    func nothing() throws {
        let server = try server(8192, grace: 0.5)
        defer { server.stop(patience: 0) }
        let client = try reader(server)
        #expect(eventually { server.statistics.deadlines == [.answer: 1] && server.statistics.connections == 0 })
        #expect(try client.rest().count < Self.length)
    }

    @Test("who takes some all the time, but too little")
    func little() throws {
        let server = try server(1e9, grace: 0.5)
        defer { server.stop(patience: 0) }
        let client = try reader(server)
        var taken = 0
        while case let count = try client.skip(atMost: 1000), count > 0 {
            taken += count
            usleep(5000)
        }
        #expect(taken < Self.length)
        #expect(eventually { server.statistics.deadlines == [.answer: 1] })
    }

    @Test("not who is slow, but fast enough")
    func enough() throws {
        let server = try server(1, grace: 2)
        defer { server.stop(patience: 0) }
        let client = try reader(server)
        var taken = 0
        // Three seconds and more.
        while taken < Self.length {
            let count = try client.skip(atMost: 2048)
            try #require(count > 0)
            taken += count
            usleep(6000)
        }
        #expect(taken == Self.length && server.statistics.deadlines == [:])
    }
}
