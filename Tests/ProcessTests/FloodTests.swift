import Glibc
import HTTP
import Platform
import Support
import Testing

@Suite("A flood of connections and of faulty requests") struct FloodTests {
    /// The seconds of CPU time that a process has used.
    private func processorSeconds(_ process: ChildProcess) throws -> Double {
        let text = String(decoding: try File.read("/proc/\(process.identifier)/stat"), as: UTF8.self)
        // The name of the process may hold spaces. After the name, user and system time are fields 12 and 13.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Waits for a second in which the process rests, after it has finished earlier work.
    private func expectRest(_ process: ChildProcess) throws {
        try eventuallyBlocking("the process rests") {
            let (time, logged) = (try processorSeconds(process), process.output.utf8.count)
            usleep(1_000_000)
            return try processorSeconds(process) - time < 0.1 && process.output.utf8.count - logged < 5000
        }
    }

    /// Connects clients that send half a header block and stay.
    private func crowd(_ count: Int, on port: UInt16) throws -> [RawClient] {
        _ = ProcessLimits.raiseOpenFiles(to: 4096)
        return try (0..<count).map { _ in
            let client = try RawClient(port: port)
            try client.send("GET / HT")
            return client
        }
    }

    @Test(arguments: isSanitized ? [72] : [72, 1024])
    func `Connections beyond the number of descriptors wait, and cost nothing`(rest: Int) throws {
        let stage = try Stage()
        // Each core has a loop with two descriptors of its own. A server needs about 60 beside them.
        let descriptors = rest + 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let program = ["/usr/bin/prlimit", "--nofile=\(descriptors):\(descriptors)", ChildProcess.built("task-server")]
        let server = try stage.server(program: program)
        #expect(server.process.output.contains("\"event\":\"few-open-files\""))
        do {
            let crowd = try crowd(descriptors + 100, on: server.port)
            _ = try server.process.await { $0.contains("\"event\":\"connections-full\"") ? true : nil }
            try expectRest(server.process)
            #expect(try exchange(server.adminPort, "GET", "/healthz").status == 200)
            withExtendedLifetime(crowd) {}
        }
        #expect(try server.add("After all", token: stage.token()).status == 201)
        #expect(!server.process.output.contains("connections-not-accepted"))
        #expect(server.process.output.utf8.count < 65_536)
        #expect(try server.stop() == .exit(0))
    }

    @Test func `A server with too few descriptors does not start`() throws {
        let stage = try Stage()
        let server = try ChildProcess(
            "/usr/bin/prlimit", ["--nofile=40:40", ChildProcess.built("task-server")], environment: stage.settings)
        #expect(try server.wait() == .exit(1))
        #expect(server.errors.contains("the process may open 40 files and sockets, and at least"), "\(server.errors)")
        #expect(server.errors.contains("ulimit -n"))
        let mock = try ChildProcess(
            "/usr/bin/prlimit", ["--nofile=16:16", ChildProcess.built("mock-authority")],
            environment: ["MOCK_LISTEN": "127.0.0.1:0"])
        #expect(try mock.wait() == .exit(69) && mock.errors.contains("raise ulimit -n"), "\(mock.errors)")
    }

    @Test func `If no descriptor is left although they were counted, new clients wait and no thread spins`() throws {
        let stage = try Stage()
        let server = try stage.server()
        try limitFiles(of: server.process, to: "8:")
        let client = try RawClient(port: server.port)
        try client.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try server.process.await { $0.contains("\"event\":\"connections-not-accepted\"") ? true : nil }
        try expectRest(server.process)
        try limitFiles(of: server.process, to: "1024:")
        #expect(try client.response()?.status == 200)
        let end = try server.stop()
        #expect(end == .exit(0), "\(server.process.errors)")
    }

    private func limitFiles(of program: ChildProcess, to number: String) throws {
        let arguments = ["--pid", "\(program.identifier)", "--nofile=\(number)"]
        #expect(try ChildProcess("/usr/bin/prlimit", arguments).wait() == .exit(0))
    }

    @Test func `Log lines of libmicrohttpd are rationed`() throws {
        let stage = try Stage()
        let server = try stage.server()
        for port in [server.port, stage.mockPort] {
            for text in ["GET /\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", "\r\n\r\n\r\n"] {
                let clients = try (0..<150).map { _ in try RawClient(port: port) }
                for client in clients {
                    try client.send(text)
                    client.finishSending()
                }
                for client in clients { _ = try client.rest() }
            }
        }
        // Otherwise there is nothing to ration.
        _ = try server.process.await { $0.contains("http-library") ? true : nil }
        #expect(server.process.output.utf8.count < 100_000)
        #expect(stage.mock.output.utf8.count < 10_000 && stage.mock.errors.isEmpty)
    }
}

@Suite("The stop of a server") struct StopTests {
    @Test func `A stop does not wait for a client in the middle of a handshake`() throws {
        let stage = try Stage()
        let settings = try stage.makeCertificate().merging(["TASKS_SHUTDOWN_PATIENCE": "60s"]) { $1 }
        let server = try Server(stage.start(settings))
        let (silent, half) = (try RawClient(port: server.port), try RawClient(port: server.port))
        // The beginning of a record with a handshake of TLS.
        try half.send([0x16, 3, 1, 2, 0, 1, 0])
        // Connections that were not accepted before the signal would be reset, which proves nothing.
        try eventuallyBlocking("both are accepted") { try server.metric("tasks_connections_open") == 2 }
        let start = ContinuousClock.now
        #expect(try server.stop() == .exit(0))
        #expect(ContinuousClock.now - start < .seconds(20))
        withExtendedLifetime([silent, half]) {}
    }
}

@Suite("Messages for operators") struct OperatorNoticeTests {
    @Test func `Missing files to which answers refer are logged`() throws {
        let stage = try Stage()
        #expect(try !stage.server(["TASKS_DATABASE": "memory:"]).process.output.contains("page-incomplete"))
        try File.replace("\(stage.folder)/index.html", with: [])
        let some = try stage.server(["TASKS_PUBLIC": stage.folder, "TASKS_DATABASE": "memory:"])
        let lines = some.process.output.split(separator: "\n").filter { $0.contains("\"event\":\"page-incomplete\"") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("\"missing\":\"openapi.json openapi.yaml problems.html\"") == true)
        let environment = stage.settings.filter { $0.key != "TASKS_PUBLIC" }.merging(["TASKS_DATABASE": "memory:"]) {
            $1
        }
        let program = "cd \(stage.folder) && mkdir empty && cd empty && exec \(ChildProcess.built("task-server"))"
        let none = try Server(ChildProcess("/bin/bash", ["-c", program], environment: environment))
        let (end, _, errors) = try stage.run(["serve"], ["TASKS_PUBLIC": "\(stage.folder)/nowhere"])
        #expect(end == .exit(1) && errors.contains("TASKS_PUBLIC"))
        #expect(none.process.output.contains("\"missing\":\"index.html openapi.json openapi.yaml problems.html\""))
    }
}
