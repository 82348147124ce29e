import HTTPServer
import Support
import Testing

/// What libmicrohttpd 0.9.75 takes and nothing above it can see (V-142), and 1.0 refuses.
///
/// A strict proxy in front cures it.
@Suite("What libmicrohttpd 0.9.75 lets through is known, and 1.0 refuses it")
struct PinnedTests {
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: EchoHandler()) }

    private func text(of request: String) throws -> String? {
        let client = try RawClient(port: server.port)
        let answer = try client.ask(request)
        if Library.isOne {
            #expect(answer == nil || answer?.status == 400)
            #expect(client.isClosedByServer)
        }
        return answer?.text
    }

    @Test func `A NUL byte and a line feed end a line as CRLF does`() throws {
        let text = try text(of: "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}\n\u{0}\n")
        #expect(text?.contains("X=a") == !Library.isOne)
    }

    @Test func `A line that begins with a NUL byte is no line before a request`() throws {
        let text = try text(of: "\u{0}POST /b HTTP/1.1\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(text?.contains("GET [\"a\"]") == (Library.isOne ? nil : true))
    }

    @Test func `In a chunked body a bare line feed ends a line, and trailers are not looked at`() throws {
        let head = "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        for body in ["1\na\n0\n\n", "1\r\na\r\n0\r\nX: \u{0}\u{1}\r\n\r\n", "1\r\na\r\n0\r\nX: y\r\n z\r\n\r\n"] {
            #expect(try (text(of: head + body) == "a") == !Library.isOne)
        }
    }

    @Test func `A malformed Content-Length is refused by the library with two heads in one`() throws {
        let client = try RawClient(port: server.port)
        try client.send("POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: abc\r\n\r\n")
        let all = String(decoding: try client.rest(), as: UTF8.self)
        #expect(all.hasPrefix("HTTP/1.1 400"))
        #expect(all.ranges(of: "HTTP/1.1 400").count == (Library.isOne ? 1 : 2))
    }
}
