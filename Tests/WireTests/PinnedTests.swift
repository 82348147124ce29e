import HTTP
import MicroHTTPD
import Support
import Testing

/// What libmicrohttpd 0.9.75 takes and nothing above it can see (V-142).
///
/// A strict proxy in front, or version 1.0, cures it. When one of these fails, the library has become stricter: delete
/// the test, and the warning in the documentation.
@Suite("What libmicrohttpd 0.9.75 lets through is known")
struct PinnedTests {
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: EchoHandler()) }

    private func text(of request: String) throws -> String? {
        let client = try RawClient(port: server.port)
        try client.send(request)
        return try client.response()?.text
    }

    @Test("A folded field is joined into its name")
    func foldedName() throws {
        let text = try text(of: "GET / HTTP/1.1\r\nHost: h\r\nX-Hea: a\r\n der\r\n\r\n")
        #expect(text?.contains("X-Header=a") == true)
    }

    @Test("A bare line feed ends a line")
    func bareLineFeed() throws {
        let text = try text(of: "GET / HTTP/1.1\nHost: h\nX: a\n\n")
        #expect(text?.contains("X=a") == true)
    }

    @Test("A NUL byte cuts the target")
    func targetCut() throws {
        let text = try text(of: "GET /a\u{0}/b HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(text == nil || text?.contains("\"b\"") == false)
    }

    @Test("A malformed Content-Length is refused by the library with two heads in one")
    func doubleReply() throws {
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
