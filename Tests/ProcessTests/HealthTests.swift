import Glibc
import Support
import Testing

@Suite("The health command, as a container's health check calls it") struct HealthTests {
    let stage: Stage

    init() throws {
        stage = try Stage()
    }

    @Test func `A server that can answer is alive and ready`() throws {
        let server = try stage.server()
        let listen = ["TASKS_LISTEN": "127.0.0.1:\(server.port)"]
        let alive = try stage.run(["health"], listen)
        #expect(alive.end == .exit(0) && alive.output == "alive\n")
        let ready = try stage.run(["health", "ready"], listen)
        #expect(ready.end == .exit(0) && ready.output == "ready\n")
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

    @Test func `Probes every second do not fill the log: there is a line when the answer changes`() throws {
        stage.mock.send(SIGSTOP)
        let server = try Server(stage.start())
        for _ in 0..<5 { #expect(try server.ask("GET", "/readyz").status == 503) }
        stage.mock.send(SIGCONT)
        try server.awaitReadiness()
        for _ in 0..<5 {
            #expect(try server.ask("GET", "/readyz").status == 200)
            #expect(try server.ask("GET", "/healthz").status == 200)
        }
        #expect(try server.stop() == .exit(0))
        let lines = server.process.output.split(separator: "\n").filter { $0.contains("\"event\":\"request\"") }
        let statuses = lines.filter { $0.contains("\"/readyz\"") }.map { $0.contains("\"status\":503") }
        #expect(statuses == [true, false], "\(lines)")
        #expect(lines.filter { $0.contains("\"/healthz\"") }.count == 1, "\(lines)")
        #expect(!lines.contains { $0.contains("\"level\":\"error\"") }, "\(lines)")
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
