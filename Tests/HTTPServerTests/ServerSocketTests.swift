import Basics
import Glibc
import HTTPServer
import Support
import Testing

@Suite("An address is bound before a server listens on it", .timeLimit(.minutes(15)))
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
