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
