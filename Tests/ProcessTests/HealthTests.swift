import Glibc
import Support
import Testing

@Suite("The health command, as a container's health check calls it") struct HealthTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
    }

    @Test(arguments: [true, false])
    func `A server on all addresses answers clients of IPv4, also in a system without IPv6`(hasIPv6: Bool) throws {
        let server = [ChildProcess.built("task-server")]
        let command = hasIPv6 ? server : ["/usr/bin/python3", TestFile("without-ipv6.py").path] + server
        let environment = stage.settings.merging(["TASKS_LISTEN": "[::]:0", "TASKS_ADMIN_LISTEN": "[::]:0"]) { $1 }
        let process = try ChildProcess(command[0], Array(command.dropFirst()), environment: environment)
        let port = try process.await { Stage.port(after: "\"listen\":\"[::]:", in: $0) }
        #expect(try exchange(port, "GET", "/healthz").status == 200)
        #expect(try stage.run(["health"], ["TASKS_LISTEN": "[::]:\(port)"]).end == .exit(0))
        if hasIPv6 {
            let client = try RawClient(port: port, overIPv6: true)
            #expect(try client.get("/healthz")?.status == 200)
        }
        process.send(SIGTERM)
        #expect(try process.wait() == .exit(0))
    }

    @Test func `Where no server listens the health is bad, and another argument than ready is a mistake`() throws {
        let health = try stage.run(["health"], ["TASKS_LISTEN": "127.0.0.1:1"])
        #expect(health.end == .exit(1))
        #expect(health.errors.contains("127.0.0.1:1"))
        #expect(try stage.run(["health", "bad"]).end == .exit(78))
        for (port, end) in [(stage.mockPort, ChildProcess.End.exit(0)), (1, .exit(1))] {
            let ofMock = try ChildProcess(
                ChildProcess.built("mock-authority"), ["health"], environment: ["MOCK_LISTEN": "127.0.0.1:\(port)"])
            #expect(try ofMock.wait() == end)
        }
    }
}
