import HTTPServer
import Support
import Testing

/// What libmicrohttpd 0.9.75 takes and nothing above it can see (V-142).
///
/// A strict proxy in front, or version 1.0, cures it. When one of these fails, the library has become stricter: delete
/// the test, and the warning in the documentation.
@Suite("What libmicrohttpd 0.9.75 lets through is known", .timeLimit(.minutes(15)))
struct PinnedTests {
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: EchoHandler()) }

    private func text(of request: String) throws -> String? {
        let client = try RawClient(port: server.port)
        try client.send(request)
        return try client.response()?.text
    }

    @Test func `A NUL byte and a line feed end a line as CRLF does`() throws {
        let text = try text(of: "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}\n\u{0}\n")
        #expect(text?.contains("X=a") == true)
    }

    @Test func `A line that begins with a NUL byte is no line before a request`() throws {
        let text = try text(of: "\u{0}POST /b HTTP/1.1\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(text?.contains("GET [\"a\"]") == true)
    }

    @Test func `In a chunked body a bare line feed ends a line, and trailers are not looked at`() throws {
        let text = try text(
            of: "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\nX: \u{0}\u{1}\n\n")
        #expect(text == "a")
    }

    @Test func `A malformed Content-Length is refused by the library with two heads in one`() throws {
        let client = try RawClient(port: server.port)
        try client.send("POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: abc\r\n\r\n")
        let all = String(decoding: try client.rest(), as: UTF8.self)
        #expect(all.hasPrefix("HTTP/1.1 400"))
        #expect(all.components(of: "HTTP/1.1 400") == 2)
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { utf8.count == 0 ? 0 : ranges(of: part).count }
}
