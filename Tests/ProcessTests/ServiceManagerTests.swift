import Glibc
import Platform
import Support
import Testing

/// The socket on which a service manager hears the states of a program.
private final class NotifySocket {
    private let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    /// How many datagrams the socket could take before it was full.
    private(set) var filled = 0

    /// Binds a path, or an abstract name, which begins with `@`.
    init(_ path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        if path.hasPrefix("@") { address.sun_path.0 = 0 }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        let code = withUnsafeBytes(of: &address) {
            bind(number, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, size)
        }
        guard code == 0 else { throw ChildProcess.Failure(description: "cannot bind \(path): error \(errno)") }
    }

    /// Fills the socket, as a manager does that no longer reads.
    func fill(_ path: String) {
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(sender) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        withUnsafeBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            let size = socklen_t(bytes.count)
            while sendto(sender, "x", 1, Int32(MSG_DONTWAIT), address, size) == 1 { filled += 1 }
        }
    }

    deinit { close(number) }

    /// Returns the next datagram.
    func next() throws -> String {
        var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, Int32(patience / .milliseconds(1))) == 1 else {
            throw ChildProcess.Failure(description: "no state")
        }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = recv(number, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}

@Suite("A server under a service manager") struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func `The manager hears when the server is ready, reloads and stops`(isAbstract: Bool) throws {
        let stage = try Stage()
        let path = isAbstract ? "@\(stage.folder)/notify" : "\(stage.folder)/notify"
        let manager = try NotifySocket(path)
        let server = try stage.server(["NOTIFY_SOCKET": path])
        #expect(try manager.next() == "READY=1")
        let before = SystemTime().monotonicNanoseconds / 1000
        server.process.send(SIGHUP)
        let reloading = try manager.next().split(separator: "\n")
        #expect(reloading.first == "RELOADING=1")
        let time = reloading.last.flatMap { UInt64($0.dropFirst("MONOTONIC_USEC=".utf8.count)) } ?? 0
        #expect((before...SystemTime().monotonicNanoseconds / 1000).contains(time), "\(reloading)")
        #expect(try manager.next() == "READY=1")
        #expect(try server.stop() == .exit(0))
        #expect(try manager.next() == "STOPPING=1")
    }

    @Test func `A server that is watched says that it is alive, twice in each period`() throws {
        let stage = try Stage()
        let manager = try NotifySocket("\(stage.folder)/notify")
        let settings = ["NOTIFY_SOCKET": "\(stage.folder)/notify", "WATCHDOG_USEC": "400000"]
        let launch = ContinuousClock.now
        let server = try stage.server(settings)
        #expect(try manager.next() == "READY=1")
        for _ in 0..<3 { #expect(try manager.next() == "WATCHDOG=1") }
        #expect(ContinuousClock.now - launch >= .milliseconds(600))
        // Once in each whole period, ten signs of life would take four seconds.
        try expectDuration(below: .seconds(4)) { () throws -> Duration in
            let start = ContinuousClock.now
            for _ in 0..<10 { #expect(try manager.next() == "WATCHDOG=1") }
            return ContinuousClock.now - start
        }
        #expect(try server.stop() == .exit(0))
        var last = try manager.next()
        while last == "WATCHDOG=1" { last = try manager.next() }
        #expect(last == "STOPPING=1")
        // Another process is watched.
        let unwatched = try stage.server(settings.merging(["WATCHDOG_PID": "1"]) { $1 })
        #expect(try manager.next() == "READY=1")
        #expect(try unwatched.stop() == .exit(0))
        #expect(try manager.next() == "STOPPING=1")
    }

    @Test func `A manager that does not read keeps the server neither from serving nor from ending`() throws {
        let stage = try Stage()
        let path = "\(stage.folder)/notify"
        let manager = try NotifySocket(path)
        manager.fill(path)
        #expect(manager.filled > 0)
        let server = try stage.server(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"])
        _ = try server.process.await { $0.contains("\"event\":\"service-manager-not-told\"") ? true : nil }
        server.process.send(SIGHUP)
        _ = try server.process.await { $0.contains("\"event\":\"keys-refresh\"") ? true : nil }
        #expect(try server.stop() == .exit(0))
    }

    @Test(arguments: ["/nowhere/notify", "notify", "/" + String(repeating: "n", count: 120)])
    func `A server that cannot reach its manager says so and serves`(path: String) throws {
        let stage = try Stage()
        let server = try stage.server(["NOTIFY_SOCKET": path])
        _ = try server.process.await { $0.contains("\"event\":\"service-manager-not-told\"") ? true : nil }
        #expect(try server.stop() == .exit(0))
    }

    /// Starts a server that inherits a socket, as one that replaces another server does.
    private func successor(
        _ stage: Stage, _ changes: [String: String], listens: Bool = true
    ) throws -> ChildProcess {
        let script = """
            import os, socket, sys
            listener = \(listens ? #"socket.create_server(("127.0.0.1", 0))"# : "socket.socket()")
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let settings = stage.settings.filter { $0.key != "TASKS_LISTEN" }.merging(changes) { $1 }
        return try ChildProcess(
            "/usr/bin/python3", ["-c", script, ChildProcess.built("task-server")], environment: settings)
    }

    @Test(arguments: [
        (true, Int32(78), "TASKS_LISTEN is set, and the service manager passed sockets (LISTEN_FDS); unset"),
        (false, 1, "LISTEN_FDS: descriptor 3 is no TCP socket that listens"),
    ])
    func `A socket of the manager that cannot be used ends the start`(
        listens: Bool, code: Int32, message: String
    ) throws {
        let settings = listens ? ["TASKS_LISTEN": "127.0.0.1:0"] : [:]
        let (end, _, errors) = try successor(Stage(), settings, listens: listens).outcome()
        #expect(end == .exit(code) && errors.contains(message), "\(errors)")
    }

    private static let waits = "\"event\":\"waiting-for-earlier-server\",\"need\":"

    @Test func `A successor waits as long as the earlier server may take, and a signal ends it at once`() throws {
        let stage = try Stage()
        let earlier = try stage.server()
        let settings = ["TASKS_SHUTDOWN_DELAY": "100s", "TASKS_SHUTDOWN_PATIENCE": "200s"]
        let second = try successor(stage, settings)
        let line = try second.await { $0.split(separator: "\n").first { $0.contains(Self.waits) } }
        #expect(line.contains(",\"atMostSeconds\":310"), "\(line)")
        second.send(SIGTERM)
        #expect(try second.wait() == .exit(0))
        #expect(second.output.contains("\"event\":\"stopped\""))
        let third = try successor(stage, [:])
        _ = try third.await { $0.contains(Self.waits) ? true : nil }
        #expect(try earlier.stop() == .exit(0))
        let server = try Server(third)
        try server.awaitReadiness()
        #expect(try server.stop() == .exit(0))
    }

    @Test func `A successor gives up when the earlier server has had its time`() throws {
        let stage = try Stage()
        let earlier = try stage.server()
        let second = try successor(stage, ["TASKS_SHUTDOWN_PATIENCE": "0s"])
        let (end, output, errors) = try second.outcome()
        #expect(end == .exit(1) && output.contains(Self.waits), "\(output)")
        #expect(errors.contains("another task-server uses the database"), "\(errors)")
        #expect(try earlier.stop() == .exit(0))
    }
}
