import HTTP
import Support
import Testing

@testable import HTTPServer
@testable import TaskServer

@Suite("A server with several addresses", .timeLimit(.minutes(15))) struct ListenersTests {
    @Test func `Each number of the statistics is the sum of all listeners`() throws {
        var one = ServerStatistics()
        (one.connections, one.connectionsOpened, one.connectionsRefused) = (1, 20, 300)
        (one.connectionsDisconnected, one.suspended, one.deadlines) = (4000, 50_000, [.idle: 6])
        var sum = ServerStatistics()
        (sum.connections, sum.connectionsOpened, sum.connectionsRefused) = (3, 60, 900)
        (sum.connectionsDisconnected, sum.suspended, sum.deadlines) = (12_000, 150_000, [.idle: 18])
        #expect(ServerStatistics.sum([one, one, one]) == sum)
        #expect(ServerStatistics.sum([]) == nil)
    }

    @Test func `A server that stops accepts nowhere while a request of any address is in progress`() throws {
        let stage = try Stage()
        let server = try stage.server([
            "TASKS_LISTEN": "127.0.0.1:0,127.0.0.1:\(freePort())", "TASKS_SHUTDOWN_PATIENCE": "300s",
        ])
        let other = try #require(Stage.port(after: ",127.0.0.1:", in: server.process.output))
        #expect(try exchange(other, "GET", "/healthz").status == 200)
        let body = #"{"task":"in progress"}"#
        let client = try server.beginToAdd(String(body.prefix(5)), of: body.utf8.count, token: stage.token())
        server.process.send(15)
        eventuallyBlocking("the other address refuses connections") { (try? RawClient(port: other)) == nil }
        try client.send(String(body.dropFirst(5)))
        #expect(try client.response(to: .post)?.status == 201)
        #expect(try server.process.wait() == .exit(0))
    }
}
