import Glibc
import HTTP
import JSON
import Platform
import Support
import Testing

@testable import HTTPServer
@testable import TaskServer

@Suite("The first request after the port is open") struct StartTests {
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
        for start in 0..<(isSanitized ? 6 : 10) {
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

    @Test func `A start that waits for a silent database ends at SIGTERM`() throws {
        let stage = try Stage()
        let (socket, port) = try listenOnLoopback()
        defer { close(socket) }
        // Five seconds for each: longer than this test waits.
        let hosts = Array(repeating: "127.0.0.1:\(port)", count: 100).joined(separator: ",")
        let server = try stage.start(["TASKS_DATABASE": "postgresql://someone@\(hosts)/tasks"])
        let connection = accept(socket, nil, nil)
        defer { close(connection) }
        server.send(SIGHUP)
        server.send(SIGTERM)
        #expect(try server.wait() == .exit(0))
        #expect(server.output.contains(#""event":"stopped""#), "\(server.output)")
    }

    @Test func `The log says with which libraries the server runs`() throws {
        let stage = try Stage()
        let line = try stage.start([:]).await { output in
            output.split(separator: "\n").first { $0.contains(#""event":"libraries""#) }
        }
        let members = try #require(try JSONValue(parsing: Array(line.utf8)).object).members
        let versions = members.filter { !["time", "level", "event"].contains($0.name) }
        #expect(versions.map(\.name) == ["libmicrohttpd", "openssl", "libcurl", "sqlite"])
        for each in versions {
            #expect(each.value.string?.contains(/^[0-9]+\.[0-9]+/) == true, "\(each.name): \(each.value)")
        }
    }

    @Test
    func `A database for a trial is among the temporary files, for one user only, and goes with the server`() throws {
        let stage = try Stage()
        let place = "\(stage.folder)/temporary"
        try #require(mkdir(place, 0o700) == 0)
        let settings = ["TASKS_DATABASE": "memory:", "TMPDIR": place]
        let server = try stage.server(settings)
        let token = try stage.token()
        #expect(try server.add("For a while", token: token).status == 201)
        #expect(try server.texts(token: token) == ["For a while"])
        let files = try Folder.files(below: place)
        #expect(files.count >= 3 && files.allSatisfy { $0.contains(/^task-server-\w{6}\/tasks\.db/) }, "\(files)")
        let folder = "\(place)/\(files.first?.split(separator: "/").first ?? "")"
        var facts = stat()
        #expect(stat(folder, &facts) == 0 && facts.st_mode & 0o777 == 0o700)
        #expect(try server.stop() == .exit(0))
        // A start that fails leaves nothing either.
        let certificate = ["TASKS_TLS_CERT": "\(place)/missing.pem", "TASKS_TLS_KEY": "\(place)/missing.key"]
        #expect(try stage.run([], settings.merging(certificate) { $1 }).end == .exit(1))
        #expect(rmdir(place) == 0)
        let missing = try stage.run([], settings)
        #expect(missing.end == .exit(1) && missing.errors.contains("(TMPDIR)"), "\(missing.errors)")
    }

    /// Swift reads the arguments from `/proc`, and so do the settings.
    @Test(
        .enabled(if: !isSanitized, "a sanitizer reads /proc itself before the program runs"),
        arguments: ["task-server", "mock-authority"])
    func `A program that has no /proc says so`(program: String) throws {
        let asRoot = geteuid() == 0 ? [] : ["--user", "--map-root-user"]
        let script = "mount -t tmpfs none /proc && exec \(ChildProcess.built(program)) --version"
        let (end, output, errors) = try ChildProcess(
            "/usr/bin/unshare", asRoot + ["--mount", "/bin/sh", "-c", script]
        ).outcome()
        #expect(end == .exit(1) && output == "")
        #expect(errors.hasPrefix("\(program): /proc is not mounted"), "\(errors)")
    }
}

@Suite("A server with several addresses") struct ListenersTests {
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
