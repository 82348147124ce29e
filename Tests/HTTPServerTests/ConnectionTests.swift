import Glibc
import HTTPServer
import Support
import Synchronization
import Testing

@Suite("A connection carries one request after the other")
struct ConnectionTests {
    let handler = EchoHandler()
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: handler) }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `The handler gets the body, whatever the method`(method: String) throws {
        let client = try RawClient(port: server.port)
        for _ in 0..<2 {
            try client.send("\(method) /read HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
            #expect(try client.response()?.text == "hello")
            try client.send(
                "\(method) /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
            )
            #expect(try client.response()?.text == "hello")
        }
    }

    @Test func `A handler may wait, before the body and after it`() throws {
        for path in ["/wait", "/wait-then-read", "/read-then-wait", "/wait-then-refuse"] {
            let client = try RawClient(port: server.port)
            try client.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
            eventuallyBlocking { handler.waiting.withLock { !$0.isEmpty } }
            handler.release()
            let response = try #require(try client.response())
            let wanted = ["/wait": 200, "/wait-then-read": 200, "/read-then-wait": 201, "/wait-then-refuse": 401]
            #expect(response.status == wanted[path])
            if path.contains("read") { #expect(response.text == "hello") }
        }
        eventuallyBlocking { server.statistics.suspended == 0 }
    }

    @Test func `A handler that waited continues on the loop where it began, whichever thread resumed it`() throws {
        let client = try RawClient(port: server.port)
        for count in 1...3 {
            try client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
            eventuallyBlocking { handler.waiting.withLock { !$0.isEmpty } }
            handler.release()
            #expect(try client.response()?.status == 200)
            let threads = handler.threads.withLock { $0 }
            #expect(threads.count == count)
            #expect(threads.allSatisfy { $0.began == $0.continued && $0.began != pthread_self() })
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET"])
    func `A refusal before the body ends the connection`(method: String) throws {
        let client = try RawClient(port: server.port)
        try client.send(
            "\(method) /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 34\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        #expect(try client.response()?.status == 401)
        #expect(client.isClosedByServer)
    }
}
