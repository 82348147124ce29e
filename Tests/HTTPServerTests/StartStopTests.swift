import Basics
import Glibc
import HTTPServer
import Platform
import Support
import Synchronization
import Testing

@Suite("A server starts with a reason when it cannot, and stops without losing a request")
struct StartStopTests {
    private let handler = EchoHandler()
    private let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: handler) }

    @Test func `A port that is taken, an address that is not here, a name that is no address`() throws {
        #expect(throws: OperatorError.addressInUse) { try HTTPServer(port: server.port, handler: EchoHandler()) }
        #expect(throws: OperatorError("this machine has no such address")) {
            try HTTPServer(host: "192.0.2.1", port: 0, handler: EchoHandler())
        }
        #expect(throws: OperatorError("'example.com' is not an address")) {
            try HTTPServer(host: "example.com", port: 0, handler: EchoHandler())
        }
    }

    @Test(arguments: [("127.0.0.1", [false]), ("0.0.0.0", [false]), ("::1", [true]), ("::", [false, true])])
    func `It listens on addresses of both families`(host: String, overIPv6: [Bool]) throws {
        let server = try HTTPServer(host: host, port: 0, handler: EchoHandler())
        for isVersion6 in overIPv6 {
            let (address, name) = isVersion6 ? ("::1", "[::1]") : ("127.0.0.1", "127.0.0.1")
            let client = try RawClient(port: server.port, overIPv6: isVersion6)
            let request = "GET /peer HTTP/1.1\r\nHost: \(name):\(server.port)\r\n\r\n"
            #expect(try client.ask(request)?.text == address)
        }
    }

    @Test func `One socket may have IPv4 and another IPv6 of one port`() throws {
        let peer = "GET /peer HTTP/1.1\r\nHost: h\r\n\r\n"
        let four = try HTTPServer(host: "0.0.0.0", port: 0, handler: EchoHandler())
        let six = try HTTPServer(
            listeningOn: ServerSocket(bindingTo: "::", port: four.port, onlyIPv6: true), handler: EchoHandler())
        #expect(try RawClient(port: six.port, overIPv6: true).ask(peer)?.text == "::1")
        #expect(try RawClient(port: four.port).ask(peer)?.text == "127.0.0.1")
    }

    @Test func `Stopping waits half a second for idle connections, and new ones are refused`() throws {
        let client = try RawClient(port: server.port)
        #expect(try client.get("/")?.status == 200)
        let began = SystemTime().monotonicNanoseconds
        server.stop(patience: .seconds(60))
        #expect(SystemTime().monotonicNanoseconds - began < 50_000_000_000)
        #expect(client.isClosedByServer)
        #expect(throws: RawClient.Failure.system("connect", ECONNREFUSED)) { try RawClient(port: server.port) }
        server.stop(patience: .seconds(10))
    }

    @Test func `A request under way is answered within the patience, and its connection ends`() throws {
        let client = try RawClient(port: server.port)
        try client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        eventuallyBlocking { server.statistics.suspended > 0 }
        let stopper = try NamedThread.start("stopper") { server.stop(patience: .seconds(200)) }
        eventuallyBlocking { (try? RawClient(port: server.port)) == nil }
        handler.release()
        let response = try #require(try client.response())
        #expect(response.status == 200)
        #expect(response.headers["Connection"] == "close")
        stopper.join()
    }

    @Test
    func `A connection that still waits to be accepted at the stop is accepted, and its request answered`() throws {
        var limits = ServerLimits()
        (limits.connections, limits.loops) = (2, 2)
        let mayGoOn = Atomic<Bool>(false)
        // The acceptor is held here while both connections are open.
        let hold: @Sendable (ServerEvent) -> Void = { event in
            if event == .waiting(.connections) { eventuallyBlocking { mayGoOn.load(ordering: .relaxed) } }
        }
        let server = try HTTPServer(port: 0, limits: limits, handler: EchoHandler(), observe: hold)
        let kept = try RawClient(port: server.port)
        var other: RawClient? = try RawClient(port: server.port)
        #expect(try kept.get("/a")?.status == 200)
        #expect(try other?.get("/b")?.status == 200)
        let waiting = try RawClient(port: server.port)
        try waiting.send("GET /c HTTP/1.1\r\nHost: h\r\n\r\n")
        other = nil
        eventuallyBlocking { server.statistics.connections == 1 }
        let stopper = try NamedThread.start("stopper") { server.stop(patience: .seconds(200)) }
        // A connection that was idle for half a second is closed without an answer.
        eventuallyBlocking { (try? kept.get("/d")).map { $0.headers["Connection"] == "close" } ?? true }
        mayGoOn.store(true, ordering: .relaxed)
        let response = try #require(try waiting.response())
        #expect(response.status == 200 && response.headers["Connection"] == "close")
        stopper.join()
    }

    @Test func `A body under way comes to its end within the patience`() throws {
        let client = try RawClient(port: server.port)
        try client.send("POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab")
        eventuallyBlocking { handler.asked.load(ordering: .relaxed) > 0 }
        let stopper = try NamedThread.start("stopper") { server.stop(patience: .seconds(200)) }
        eventuallyBlocking { (try? RawClient(port: server.port)) == nil }
        #expect(try client.ask("cd")?.text == "abcd")
        stopper.join()
    }

    @Test func `A request that still waits after the patience gets a 503 that says why`() throws {
        let clients = try (0..<8).map { _ in try RawClient(port: server.port) }
        for client in clients { try client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n") }
        eventuallyBlocking { server.statistics.suspended == 8 }
        server.stop(patience: .milliseconds(50))
        for client in clients {
            let response = try #require(try client.response())
            #expect(response.status == 503 && response.text.contains("server.stopping"))
            // The handler may have begun a change.
            #expect(response.text.contains("look before you repeat"))
        }
        handler.release()
    }

    @Test func `Stopping under load, with waiting and dripping clients, ends in time`() throws {
        let port = server.port
        let isOver = Atomic<Bool>(false)
        let threads = try (0..<4).map { number in
            try NamedThread.start("load-\(number)") {
                while !isOver.load(ordering: .relaxed) {
                    guard let client = try? RawClient(port: port, timeout: 1) else { continue }
                    try? client.send(
                        number == 0 ? "POST /read HTTP/1.1\r\nHo" : "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
                    if number == 1 { handler.release() }
                    if number > 1 { _ = try? client.response() }
                }
            }
        }
        eventuallyBlocking { handler.begun.load(ordering: .relaxed) > 20 }
        let began = SystemTime().monotonicNanoseconds
        server.stop(patience: .milliseconds(100))
        #expect(SystemTime().monotonicNanoseconds - began < 20_000_000_000)
        isOver.store(true, ordering: .relaxed)
        for thread in threads { thread.join() }
        handler.release()
        // The handlers whose connections were closed run to their end, too.
        let begun = handler.begun.load(ordering: .relaxed)
        #expect(begun > 0)
        eventuallyBlocking { handler.threads.withLock { $0.count } == begun }
    }

    @Test func `Silent connections, and half a header block are not waited for as requests under way are`() throws {
        let silent = try RawClient(port: server.port)
        let half = try RawClient(port: server.port)
        try half.send("GET / HTTP/1.1\r\nHo")
        let busy = try RawClient(port: server.port, timeout: 60)
        try busy.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        eventuallyBlocking { server.statistics.suspended > 0 && server.statistics.connections == 3 }
        let began = SystemTime().monotonicNanoseconds
        let stopper = try NamedThread.start("stopper") { server.stop(patience: .seconds(30)) }
        #expect(silent.isClosedByServer && half.isClosedByServer)
        #expect(SystemTime().monotonicNanoseconds - began < 20_000_000_000)
        handler.release()
        #expect(try busy.response()?.status == 200)
        stopper.join()
        #expect(SystemTime().monotonicNanoseconds - began < 25_000_000_000)
    }

    @Test func `As many connections as fit into the descriptors of the process, or none`() {
        var (people, operators) = (ServerLimits(), ServerLimits())
        (people.connections, operators.connections) = (1000, 64)
        (people.loops, operators.loops) = (2, 2)
        let both = [people, operators]
        #expect(ServerLimits.descriptors(of: both) == 1076)
        #expect(ServerLimits.fitting(both, into: 1076) == both)
        for descriptors in [28, 29, 40, 64, 256, 1024, 1075] {
            let fitting = ServerLimits.fitting(both, into: descriptors) ?? []
            #expect(ServerLimits.descriptors(of: fitting) <= descriptors)
            #expect(fitting.allSatisfy { $0.connections >= 8 && $0.suspensions <= max($0.connections, 64) })
        }
        #expect(ServerLimits.fitting(both, into: 27) == nil && ServerLimits.leastDescriptors(of: both) == 28)
    }

    @Test func `A server of many loops, each of which has a connection, stays within its descriptors too`() {
        var many = ServerLimits()
        (many.loops, many.connections) = (64, 1000)
        #expect(ServerLimits.leastDescriptors(of: [many]) == 2 + 2 * 64 + 64)
        for descriptors in [150, 193] { #expect(ServerLimits.fitting([many], into: descriptors) == nil) }
        for descriptors in [194, 195, 300, 1129] {
            let fitting = ServerLimits.fitting([many], into: descriptors) ?? []
            #expect(fitting.map(\.connections) == [descriptors - 130])
            #expect(ServerLimits.descriptors(of: fitting) <= descriptors)
        }
        // A server with fewer wishes is given the least number all the same.
        many.connections = 10
        #expect(ServerLimits.leastDescriptors(of: [many]) == ServerLimits.descriptors(of: [many]))
    }

    @Test func `The limits of a server are these unless somebody changes them (V-140, V-141, V-145)`() {
        let limits = ServerLimits()
        let times = [
            limits.headerTime, limits.bodyTime, limits.requestTime, limits.idleTime,
            limits.connectionTime, limits.bodyRateGrace, limits.answerRateGrace,
            limits.suspensionTime,
        ]
        #expect(times == [10, 30, 60, 75, 600, 5, 10, 20].map { .seconds($0) })
        #expect([limits.bodyRate, limits.answerRate] == [500, 8192])
        let counts = [limits.connections, limits.suspensions, limits.fields, limits.requestsPerConnection]
        #expect(counts == [1020, 1020, 100, 1000])
        #expect([limits.head, limits.connectionMemory, limits.drainedBody] == [24_576, 36_864, 65_536])
        #expect(limits.perAddress == 0 && limits.unlimited.isEmpty && limits.trustedProxies.isEmpty)
    }

    @Test func `Requests have numbers of their own`() throws {
        var seen: Set<String> = []
        for _ in 0..<5 {
            let client = try RawClient(port: server.port)
            for _ in 0..<5 {
                let identifier = try #require(try client.get("/")?.headers["X-Request-Id"])
                #expect(identifier.utf8.count == 16)
                seen.insert(identifier)
            }
        }
        #expect(seen.count == 25)
    }
}

@Suite("An address is bound before a server listens on it")
struct ServerSocketTests {
    @Test func `A bound port has its number and refuses connections until a server listens`() throws {
        let socket = try ServerSocket(bindingTo: "127.0.0.1", port: 0)
        #expect(socket.port != 0)
        #expect(throws: RawClient.Failure.system("connect", ECONNREFUSED)) { try RawClient(port: socket.port) }
        let server = try HTTPServer(listeningOn: socket, handler: EchoHandler())
        #expect(server.port == socket.port)
        let client = try RawClient(port: socket.port)
        #expect(try client.get("/a")?.status == 200)
        server.stop(patience: .zero)
        #expect(throws: RawClient.Failure.system("connect", ECONNREFUSED)) { try RawClient(port: socket.port) }
    }

    @Test func `A port where a server listens cannot be bound, and is free again once the server has stopped`() throws {
        let server = try HTTPServer(port: 0, handler: EchoHandler())
        #expect(throws: OperatorError.addressInUse) { try ServerSocket(bindingTo: "127.0.0.1", port: server.port) }
        server.stop(patience: .zero)
        _ = try ServerSocket(bindingTo: "127.0.0.1", port: server.port)
    }

    @Test func `Of two sockets bound to one port the second to listen fails, and the first still serves`() throws {
        let first = try ServerSocket(bindingTo: "127.0.0.1", port: 0)
        let second = try ServerSocket(bindingTo: "127.0.0.1", port: first.port)
        let server = try HTTPServer(listeningOn: first, handler: EchoHandler())
        #expect(throws: OperatorError.addressInUse) { try HTTPServer(listeningOn: second, handler: EchoHandler()) }
        let client = try RawClient(port: server.port)
        #expect(try client.get("/a")?.status == 200)
    }

    @Test func `A socket that another process holds, too, goes on listening for the next server`() throws {
        let listener = try listenOnLoopback()
        defer { close(listener.socket) }
        let port = UInt16(listener.port)
        let first = try HTTPServer(
            listeningOn: ServerSocket(inheriting: dup(listener.socket)), handler: EchoHandler())
        #expect(first.port == port)
        let kept = try RawClient(port: port)
        #expect(try kept.get("/a")?.headers["Connection"] == nil)
        first.stopAccepting()
        // The next request of a kept connection is answered, and told to be the last.
        let waiting = try RawClient(port: port)
        try waiting.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try kept.get("/c")?.headers["Connection"] == "close")
        first.stop(patience: .seconds(60))
        let second = try HTTPServer(
            listeningOn: ServerSocket(inheriting: dup(listener.socket)), handler: EchoHandler())
        #expect(try waiting.response()?.status == 200)
        second.stop(patience: .zero)
    }

    @Test func `Only a TCP socket that listens can be inherited`() throws {
        let others = [
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0), 0,
        ]
        for descriptor in others {
            let error = #expect(throws: OperatorError.self) { try ServerSocket(inheriting: descriptor) }
            #expect(error?.failure == "descriptor \(descriptor) is no TCP socket that listens")
        }
        for descriptor in others.dropLast() { close(descriptor) }
    }

    @Test func `A socket that no server uses is closed`() throws {
        let port = try ServerSocket(bindingTo: "127.0.0.1", port: 0).port
        _ = try HTTPServer(port: port, handler: EchoHandler())
    }
}
