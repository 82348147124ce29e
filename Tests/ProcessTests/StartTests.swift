import HTTP
import Platform
import Support
import Testing

@Suite("The first request after the port is open", .timeLimit(.minutes(15))) struct StartTests {
    /// Starts a server on the port, and returns its answer to a request that is sent as soon as the port is open.
    private func firstResponse(_ target: String, of stage: Stage, _ port: UInt16) throws -> RawResponse? {
        let changes = ["TASKS_LISTEN": "127.0.0.1:\(port)", "TASKS_DATABASE": "memory:"]
        let server = try stage.start(changes)
        let client = try firstConnection(to: port)
        let response = try client.ask("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        server.send(9)
        return response
    }

    @Test func `Each of many new servers answers it as it would answer the next`() throws {
        let stage = try Stage()
        for start in 0..<(isSanitized ? 6 : 30) {
            let isHealth = start.isMultiple(of: 2)
            let response = try #require(
                try firstResponse(isHealth ? "/healthz" : "/readyz", of: stage, UInt16(freePort())))
            if isHealth {
                #expect(response.status == 200 && response.text == "alive\n")
            } else if response.status == 200 {
                #expect(response.text == "ready\n")
            } else {
                #expect(response.status == 503 && response.headers["Retry-After"] == "5")
                #expect(response.text.hasPrefix("not ready: the keys") || response.text.hasPrefix("not ready: no keys"))
            }
        }
    }

    @Test(arguments: ["TASKS_LISTEN", "TASKS_ADMIN_LISTEN"])
    func `A taken port is reported before the database is created`(setting: String) throws {
        let stage = try Stage()
        let (end, output, errors) = try stage.run([], [setting: "127.0.0.1:\(stage.mockPort)"])
        #expect(end == .exit(1))
        #expect(
            errors.contains("\(setting): cannot listen on 127.0.0.1:\(stage.mockPort): another program listens there"),
            "\(errors)")
        #expect(!output.contains("database-created"), "\(output)")
        #expect(!File.exists(stage.database))
    }
}
