import Basics
import HTTP
import HTTPServer
import Support
import Testing

/// A request that is wrong in one way, and what becomes of it.
struct WrongRequest: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let status: Int
    var testDescription: String { name }

    init(_ name: String, _ status: Int, _ text: String) {
        self.name = name
        self.status = status
        self.text = text
    }
}

@Suite("A request whose end is unclear is refused, and nothing after it is executed", .timeLimit(.minutes(15)))
struct FramingTests {
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: EchoHandler()) }

    static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

    /// V-142, V-143.
    static let closing: [WrongRequest] = [
        WrongRequest(
            "Content-Length and Transfer-Encoding", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "Transfer-Encoding and Content-Length", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "Transfer-Encoding and Content-Length: 0", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "two lengths", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 30\r\n\r\nx"),
        WrongRequest(
            "two equal lengths", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"),
        WrongRequest(
            "two codings", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        WrongRequest(
            "another coding", 400, "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
        ),
        WrongRequest(
            "an unknown coding", 400, "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "a coding and a blank", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "a coding and a tab, then a field", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\t\r\nX: y\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "chunked in quotes", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "a coding in HTTP/1.0", 400, "POST /read HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        WrongRequest(
            "the length that means unknown", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551615\r\n\r\n"),
        WrongRequest(
            "a length beyond Int", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 9223372036854775808\r\n\r\n"),
        WrongRequest("no Host", 400, "GET /a HTTP/1.1\r\n\r\n"),
        WrongRequest("a Host whose port is none", 400, "GET /a HTTP/1.1\r\nHost: a:x\r\n\r\n"),
        WrongRequest("a Host with an open bracket", 400, "GET /a HTTP/1.1\r\nHost: [::1\r\n\r\n"),
        WrongRequest("a malformed Host in HTTP/1.0", 400, "GET /a HTTP/1.0\r\nHost: a:x\r\n\r\n"),
        WrongRequest("an absolute form like its malformed Host", 400, "GET http://a:x/ HTTP/1.1\r\nHost: a:x\r\n\r\n"),
        WrongRequest("two Hosts", 400, "GET /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"),
        WrongRequest("an empty Host", 400, "GET /a HTTP/1.1\r\nHost:\r\n\r\n"),
        WrongRequest("a Host with a path", 400, "GET /a HTTP/1.1\r\nHost: h/x\r\n\r\n"),
        WrongRequest("a Host with a space", 400, "GET /a HTTP/1.1\r\nHost: a b\r\n\r\n"),
        WrongRequest(
            "two Content-Types", 400, "GET /a HTTP/1.1\r\nHost: h\r\nContent-Type: a/b\r\ncontent-type: a/b\r\n\r\n"),
        WrongRequest("a control byte in a value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: a\u{1}b\r\n\r\n"),
        WrongRequest("DEL in a value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: a\u{7F}b\r\n\r\n"),
        WrongRequest("a carriage return in a value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n"),
        WrongRequest("a space before the colon", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX : a\r\n\r\n"),
        WrongRequest("a name beyond ASCII", 400, "GET /a HTTP/1.1\r\nHost: h\r\nÜ: a\r\n\r\n"),
        WrongRequest("brackets in a name", 400, "GET /a HTTP/1.1\r\nHost: h\r\n(X): a\r\n\r\n"),
        WrongRequest("a folded first field", 400, "GET /a HTTP/1.1\r\n Host: h\r\nHost: h\r\n\r\n"),
        WrongRequest("a folded field", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"),
        WrongRequest("a folded field that makes a name", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX-Hea: a\r\n der\r\n\r\n"),
        WrongRequest("bare line feeds", 400, "GET /a HTTP/1.1\nHost: h\nX: a\n\n"),
        WrongRequest("a bare line feed after a field", 400, "GET /a HTTP/1.1\r\nHost: h\nX: a\r\n\r\n"),
        WrongRequest("a bare line feed as the empty line", 400, "GET /a HTTP/1.1\r\nHost: h\r\n\n"),
        WrongRequest("a NUL byte in a value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\nY: c\r\n\r\n"),
        WrongRequest("a NUL byte in the last value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n"),
        WrongRequest("a NUL byte at the end of a value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: a\u{0}\r\n\r\n"),
        WrongRequest("a NUL byte for a value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX:\u{0}\r\n\r\n"),
        WrongRequest("a NUL byte in a name", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX\u{0}Y: c\r\n\r\n"),
        WrongRequest(
            "a NUL byte that looks like the empty line", 400, "GET /a HTTP/1.1\r\nHost: h\r\n\u{0}X: a\r\n\r\n"),
        WrongRequest("a NUL byte in the target", 400, "GET /a\u{0}/b HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a NUL byte at the end of the target", 400, "GET /a\u{0} HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a NUL byte in the query", 400, "GET /a?b\u{0}c HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest(
            "a NUL byte and a version in the target", 400, "GET /a\u{0}HTTP/1.1\u{0}\u{0}?b HTTP/1.1\r\nHost: h\r\n\r\n"
        ),
        WrongRequest("a NUL byte in the method", 400, "GET\u{0}X /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a folded value", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX:\r\n a\r\n\r\n"),
        WrongRequest(
            "a coding that is folded", 400,
            "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding:\r\n chunked\r\n\r\nx"),
        WrongRequest("a bare line feed after the request line", 400, "GET /a HTTP/1.1\nHost: h\r\n\r\n"),
        WrongRequest("a bare line feed after the last field", 400, "GET /a HTTP/1.1\r\nHost: h\n\r\n"),
        WrongRequest("a NUL byte in Host", 400, "GET /a HTTP/1.1\r\nHost: h\u{0}other\r\n\r\n"),
        WrongRequest("a line without a name", 400, "GET /a HTTP/1.1\r\nHost: h\r\n: a\r\n"),
        WrongRequest("a line of a colon", 400, "GET /a HTTP/1.1\r\nHost: h\r\n:\r\n"),
        WrongRequest("a line that begins with a NUL byte", 400, "GET /a HTTP/1.1\r\nHost: h\r\n\u{0}X: a\r\n"),
        WrongRequest("a first line without a name", 400, "GET /a HTTP/1.0\r\n: a\r\n"),
        WrongRequest("two spaces before the target", 400, "GET  /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest(
            "101 fields", 431, "GET /a HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: y\r\n", count: 100) + "\r\n"),
    ]

    @Test("A request whose end is unclear is refused, and the connection ends", arguments: closing)
    func refused(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        try client.send(wrong.text + Self.smuggled)
        let response = try #require(try client.response())
        #expect(response.status == wrong.status)
        #expect(response.headers["Connection"]?.isEqualIgnoringCase(to: "close") == true)
        #expect(client.isClosedByServer)
    }

    /// These say nothing about where the request ends.
    static let staying: [WrongRequest] = [
        WrongRequest("an unknown method", 501, "FROB /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a method in small letters", 501, "get /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("TRACE", 405, "TRACE /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("CONNECT", 400, "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("CONNECT with a path", 405, "CONNECT /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("no path", 400, "GET a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("another authority", 400, "GET http://other/a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("an encoded slash", 400, "GET /a%2Fb HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("an encoded NUL", 400, "GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a bad escape", 400, "GET /a%zz HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("dots", 400, "GET /a/%2e%2E/b HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a target beyond ASCII", 400, "GET /ü HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("two spaces after the target", 400, "GET /a  HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest(
            "101 arguments", 400, "GET /a?" + String(repeating: "b&", count: 101) + " HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a star without OPTIONS", 400, "GET * HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("another expectation", 417, "GET /a HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n"),
    ]

    @Test("A request that is wrong otherwise is refused, and the connection stays", arguments: staying)
    func refusedAndStays(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        try client.send(wrong.text)
        let response = try #require(try client.response())
        #expect(response.status == wrong.status)
        #expect(response.headers["Cache-Control"] == "no-store")
        if wrong.status == 405 { #expect(response.headers["Allow"]?.contains("GET") == true) }
        try client.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response()?.status == 200)
    }

    @Test("The absolute form and OPTIONS * are taken")
    func otherForms() throws {
        let client = try RawClient(port: server.port)
        try client.send("GET http://h:80/a?b HTTP/1.1\r\nHost: H:80\r\n\r\n")
        #expect(try client.response()?.text.hasPrefix("GET [\"a\"] [\"b=\"]") == true)
        try client.send("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response()?.text.hasPrefix("OPTIONS [] []") == true)
    }

    @Test("HTTP/1.0 needs no Host, and HTTP/2 is refused as another protocol (V-154)")
    func versions() throws {
        let old = try RawClient(port: server.port)
        try old.send("GET /a HTTP/1.0\r\n\r\n")
        #expect(try old.response()?.status == 200)
        #expect(old.isClosedByServer)
        let new = try RawClient(port: server.port)
        try new.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        #expect(try new.response()?.status == 505)
    }

    private static let chunked = "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Found by libmicrohttpd, which has a page of its own for each, and 500 for the last.
    static let ofLibrary: [WrongRequest] = [
        WrongRequest("request.framing", 400, "GET /a\r\n\r\n"),
        WrongRequest("request.framing", 400, "GET /a HTTP/1.1 b\r\n\r\n"),
        WrongRequest("request.framing", 400, "GET /a HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n"),
        WrongRequest("request.framing", 400, "\(chunked)x\r\n\r\n"),
        WrongRequest("request.version", 505, "GET /a HTTP/2.0\r\n\r\n"),
        WrongRequest("request.too_many_fields", 431, "GET /a HTTP/1.1\r\nX: \(String(repeating: "a", count: 13_000))"),
        WrongRequest("request.too_many_fields", 414, "GET /\(String(repeating: "a", count: 13_000))"),
        WrongRequest("request.body_too_large", 413, "\(chunked)10000000000000000\r\n\r\n"),
        WrongRequest("request.framing", 400, "\(chunked)1;\(String(repeating: "a", count: 20_000))"),
    ]

    @Test("A request that libmicrohttpd refuses is reported as all problems are", arguments: ofLibrary)
    func refusedByLibrary(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        try client.send(wrong.text)
        let response = try #require(try client.response())
        #expect(response.status == wrong.status)
        #expect(response.text.hasSuffix("(\(wrong.name))\n"))
        #expect(response.headers["Content-Type"] == "text/plain; charset=utf-8")
        #expect(response.headers["Connection"] == "close")
        #expect(client.isClosedByServer)
    }

    @Test("A client that asks for JSON gets the problem in JSON, others get a line of text")
    func wording() throws {
        let client = try RawClient(port: server.port)
        try client.send("GET /%2F HTTP/1.1\r\nHost: h\r\nAccept: application/json\r\n\r\n")
        let json = try #require(try client.response())
        #expect(json.headers["Content-Type"] == "application/problem+json")
        #expect(json.text.contains("\"code\":\"request.target\""))
        try client.send("GET /%2F HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n")
        #expect(try client.response()?.headers["Content-Type"] == "text/plain; charset=utf-8")
    }

    @Test(
        "A refusal may not be taken for another type, and does not name the server (V-152)",
        arguments: closing + staying + ofLibrary)
    func safety(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        try client.send(wrong.text + Self.smuggled)
        let response = try #require(try client.response())
        #expect(response.headers.values("X-Content-Type-Options") == ["nosniff"])
        #expect(response.headers["Server"] == nil)
    }

    /// Wrong in each part of a request, with a text there that no page of the server has.
    static let marked: [WrongRequest] = [
        WrongRequest("the method", 501, "ZQXJKVBQ /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("the path", 400, "GET /zqxjkvbq%2F HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("the query", 400, "GET /?zqxjkvbq=%zz HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("the authority", 400, "GET http://zqxjkvbq/a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("the version", 400, "GET /a HTTP/1.1 zqxjkvbq\r\n\r\n"),
        WrongRequest("Host", 400, "GET /a HTTP/1.1\r\nHost: zqxjkvbq/\r\n\r\n"),
        WrongRequest("the name of a field", 400, "GET /a HTTP/1.1\r\nHost: h\r\nzqxjkvbq : a\r\n\r\n"),
        WrongRequest("the value of a field", 400, "GET /a HTTP/1.1\r\nHost: h\r\nX: zqxjkvbq\u{1}\r\n\r\n"),
        WrongRequest("a line", 400, "GET /a HTTP/1.1\r\nHost: h\r\nzqxjkvbq\r\n\r\n"),
        WrongRequest("an expectation", 417, "GET /a HTTP/1.1\r\nHost: h\r\nExpect: zqxjkvbq\r\n\r\n"),
        WrongRequest("a coding", 400, "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: zqxjkvbq\r\n\r\n"),
        WrongRequest("the size of a chunk", 400, "\(chunked)zqxjkvbq\r\n\r\n"),
    ]

    @Test("No byte of a malformed request is in its refusal (V-117)", arguments: marked)
    func marker(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        try client.send(wrong.text)
        client.finishSending()
        let answer = String(decoding: try client.rest(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 \(wrong.status) "))
        #expect(!answer.lowercased().contains("zqxjkvbq"))
    }

    @Test("Upgrade and h2c are ignored (V-154)", arguments: ["h2c", "websocket", "TLS/1.2", "HTTP/2.0, h2c"])
    func upgrade(protocol name: String) throws {
        let client = try RawClient(port: server.port)
        let fields = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: \(name)\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
        for request in [
            "GET /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n",
            "POST /read HTTP/1.1\r\nHost: h\r\n\(fields)Content-Length: 4\r\n\r\nbody",
        ] {
            try client.send(request)
            let response = try #require(try client.response())
            #expect(response.status == 200, "\(request)")
            #expect(response.headers["Upgrade"] == nil, "\(request)")
        }
        // What follows is HTTP/1.1 as before.
        try client.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response()?.text.hasPrefix("GET [\"next\"]") == true)
    }
}
