import Basics
import HTTPServer
import Support
import Testing

/// A request that is wrong in one way, and what becomes of it.
struct WrongRequest: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    /// The status of the answer; nil where the connection closes without one.
    let status: Int?
    var testDescription: String { name }

    init(_ name: String, _ text: String, status: Int = 400) {
        self.name = name
        self.status = Library.status(of: name, status)
        self.text = text
    }
}

@Suite("A request whose end is unclear is refused, and nothing after it is executed")
struct FramingTests {
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: EchoHandler()) }

    static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

    /// The head of a good request without its empty line, to which the wrong fields are added.
    static let get = "GET /a HTTP/1.1\r\nHost: h\r\n"
    static let post = "POST /read HTTP/1.1\r\nHost: h\r\n"

    /// V-142, V-143.
    static let closing: [WrongRequest] = [
        WrongRequest(
            "Content-Length and Transfer-Encoding",
            "\(post)Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "Transfer-Encoding and Content-Length",
            "\(post)Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "Transfer-Encoding and Content-Length: 0",
            "\(post)Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        WrongRequest("two lengths", "\(post)Content-Length: 1\r\nContent-Length: 30\r\n\r\nx"),
        WrongRequest("two equal lengths", "\(post)Content-Length: 1\r\nContent-Length: 1\r\n\r\nx"),
        WrongRequest("two codings", "\(post)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        WrongRequest("another coding", "\(post)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        WrongRequest("an unknown coding", "\(post)Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        WrongRequest("chunked in quotes", "\(post)Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
        WrongRequest(
            "a coding in HTTP/1.0", "POST /read HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        WrongRequest("the length that means unknown", "\(post)Content-Length: 18446744073709551615\r\n\r\n"),
        WrongRequest("a length beyond Int", "\(post)Content-Length: 9223372036854775808\r\n\r\n"),
        WrongRequest("no Host", "GET /a HTTP/1.1\r\n\r\n"),
        WrongRequest("a Host whose port is none", "GET /a HTTP/1.1\r\nHost: a:x\r\n\r\n"),
        WrongRequest("a Host with an open bracket", "GET /a HTTP/1.1\r\nHost: [::1\r\n\r\n"),
        WrongRequest("a malformed Host in HTTP/1.0", "GET /a HTTP/1.0\r\nHost: a:x\r\n\r\n"),
        WrongRequest("an absolute form like its malformed Host", "GET http://a:x/ HTTP/1.1\r\nHost: a:x\r\n\r\n"),
        WrongRequest("two Hosts", "\(get)Host: h\r\n\r\n"),
        WrongRequest("an empty Host", "GET /a HTTP/1.1\r\nHost:\r\n\r\n"),
        WrongRequest("a Host with a path", "GET /a HTTP/1.1\r\nHost: h/x\r\n\r\n"),
        WrongRequest("a Host with a space", "GET /a HTTP/1.1\r\nHost: a b\r\n\r\n"),
        WrongRequest("two Content-Types", "\(get)Content-Type: a/b\r\ncontent-type: a/b\r\n\r\n"),
        WrongRequest("a control byte in a value", "\(get)X: a\u{1}b\r\n\r\n"),
        WrongRequest("DEL in a value", "\(get)X: a\u{7F}b\r\n\r\n"),
        WrongRequest("a carriage return in a value", "\(get)X: a\rb\r\n\r\n"),
        WrongRequest("a space before the colon", "\(get)X : a\r\n\r\n"),
        WrongRequest("a name beyond ASCII", "\(get)Ü: a\r\n\r\n"),
        WrongRequest("brackets in a name", "\(get)(X): a\r\n\r\n"),
        WrongRequest("a folded first field", "GET /a HTTP/1.1\r\n Host: h\r\nHost: h\r\n\r\n"),
        WrongRequest("a folded field", "\(get)X: a\r\n b\r\n\r\n"),
        WrongRequest("a folded field that makes a name", "\(get)X-Hea: a\r\n der\r\n\r\n"),
        WrongRequest("bare line feeds", "GET /a HTTP/1.1\nHost: h\nX: a\n\n"),
        WrongRequest("a bare line feed after a field", "GET /a HTTP/1.1\r\nHost: h\nX: a\r\n\r\n"),
        WrongRequest("a bare line feed as the empty line", "\(get)\n"),
        WrongRequest("a NUL byte in a value", "\(get)X: a\u{0}b\r\nY: c\r\n\r\n"),
        WrongRequest("a NUL byte in the last value", "\(get)X: a\u{0}b\r\n\r\n"),
        WrongRequest("a NUL byte at the end of a value", "\(get)X: a\u{0}\r\n\r\n"),
        WrongRequest("a NUL byte for a value", "\(get)X:\u{0}\r\n\r\n"),
        WrongRequest("a NUL byte in a name", "\(get)X\u{0}Y: c\r\n\r\n"),
        WrongRequest("a NUL byte that looks like the empty line", "\(get)\u{0}X: a\r\n\r\n"),
        WrongRequest("a NUL byte in the target", "GET /a\u{0}/b HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a NUL byte at the end of the target", "GET /a\u{0} HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a NUL byte in the query", "GET /a?b\u{0}c HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest(
            "a NUL byte and a version in the target", "GET /a\u{0}HTTP/1.1\u{0}\u{0}?b HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a NUL byte in the method", "GET\u{0}X /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a folded value", "\(get)X:\r\n a\r\n\r\n"),
        WrongRequest("a coding that is folded", "\(post)Content-Length: 1\r\nTransfer-Encoding:\r\n chunked\r\n\r\nx"),
        WrongRequest("a bare line feed after the request line", "GET /a HTTP/1.1\nHost: h\r\n\r\n"),
        WrongRequest("a bare line feed after the last field", "GET /a HTTP/1.1\r\nHost: h\n\r\n"),
        WrongRequest("a NUL byte in Host", "GET /a HTTP/1.1\r\nHost: h\u{0}other\r\n\r\n"),
        WrongRequest("a line without a name", "\(get): a\r\n"),
        WrongRequest("a line of a colon", "\(get):\r\n"),
        WrongRequest("a line that begins with a NUL byte", "\(get)\u{0}X: a\r\n"),
        WrongRequest("a first line without a name", "GET /a HTTP/1.0\r\n: a\r\n"),
        WrongRequest("two spaces before the target", "GET  /a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("another method and a word after the version", "PATCH /a HTTP/1.1 b\r\nHost: h\r\n\r\n"),
        WrongRequest("101 fields", "\(get)" + String(repeating: "X: y\r\n", count: 100) + "\r\n", status: 431),
    ]

    /// The answer to a request and what follows it, which is never taken for another type and does not name the server.
    private func refusal(_ request: String, by client: RawClient) throws -> RawResponse {
        let response = try #require(try client.ask(request))
        #expect(response.headers.values("X-Content-Type-Options") == ["nosniff"])
        #expect(response.headers["Server"] == nil)
        return response
    }

    @Test(arguments: closing)
    func `A request whose end is unclear is refused, and the connection ends (V-152)`(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        guard let status = wrong.status else {
            #expect(try client.ask(wrong.text + Self.smuggled) == nil)
            return
        }
        let response = try refusal(wrong.text + Self.smuggled, by: client)
        #expect(response.status == status)
        #expect(response.headers["Connection"]?.isEqualIgnoringCase(to: "close") == true)
        #expect(client.isClosedByServer)
    }

    /// These say nothing about where the request ends.
    static let staying: [WrongRequest] = [
        WrongRequest("an unknown method", "FROB /a HTTP/1.1\r\nHost: h\r\n\r\n", status: 501),
        WrongRequest("a method in small letters", "get /a HTTP/1.1\r\nHost: h\r\n\r\n", status: 501),
        WrongRequest("TRACE", "TRACE /a HTTP/1.1\r\nHost: h\r\n\r\n", status: 405),
        WrongRequest("CONNECT", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("CONNECT with a path", "CONNECT /a HTTP/1.1\r\nHost: h\r\n\r\n", status: 405),
        WrongRequest("no path", "GET a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("another authority", "GET http://other/a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("an encoded slash", "GET /a%2Fb HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("an encoded NUL", "GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a bad escape", "GET /a%zz HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("dots", "GET /a/%2e%2E/b HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a target beyond ASCII", "GET /ü HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("two spaces after the target", "GET /a  HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a blank in a target of another host", "GET //evil.example/ x HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a blank in an absolute target", "GET http://evil.example/ x HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("101 arguments", "GET /a?" + String(repeating: "b&", count: 101) + " HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("a star without OPTIONS", "GET * HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("another expectation", "\(get)Expect: tea\r\n\r\n", status: 417),
    ]

    @Test(arguments: staying)
    func `A request that is wrong otherwise is refused, and the connection stays`(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        let response = try refusal(wrong.text, by: client)
        #expect(response.status == wrong.status)
        #expect(response.headers["Cache-Control"] == "no-store")
        #expect(response.headers["Location"] == nil)
        if wrong.status == 405 { #expect(response.headers["Allow"]?.contains("GET") == true) }
        if Library.keepsConnection(after: wrong.name) { #expect(try client.get("/next")?.status == 200) }
    }

    @Test(arguments: 0...3)
    func `An empty line before a request is skipped, several with it or with the connection`(count: Int) throws {
        let client = try RawClient(port: server.port)
        let text = try client.ask(String(repeating: "\r\n", count: count) + "\(Self.get)\r\n")?.text
        #expect(text?.hasPrefix("GET [\"a\"]") == (count > Library.emptyLines ? nil : true))
        if text == nil { #expect(client.isClosedByServer) }
    }

    @Test func `White space around a value is no part of it (V-142)`() throws {
        let client = try RawClient(port: server.port)
        let fields = ["X: a b", "X:a b", "X: \t a b", "X: a b ", "X: a b\t", "X: a b \t \t"]
        for field in fields + fields.map({ "X: \r\nY: \t\r\nZ:\r\n" + $0 }) {
            let text = try #require(try client.ask("\(Self.get)\(field)\r\nLast:  z  \r\n\r\n")?.text)
            #expect(text.contains("X=a b\n") && text.hasSuffix("Last=z"), "\(field)")
        }
        #expect(try client.ask("\(Self.post)Content-Length: \t 4\r\n\r\nbody")?.text == "body")
        let chunks = "4\r\nbody\r\n0\r\n\r\n"
        for end in [
            "Content-Length: 4 \t\r\n\r\nbody", "Transfer-Encoding: chunked \r\n\r\n\(chunks)",
            "Transfer-Encoding: chunked\t\r\nX: y\r\n\r\n\(chunks)",
        ] {
            let client = try RawClient(port: server.port)
            try client.send(Self.post + end + Self.smuggled)
            if Library.refusesBlanksInFraming {
                #expect(try client.head()?.status == 400)
                #expect(!String(decoding: try client.rest(), as: UTF8.self).contains("HTTP/1.1 200"))
            } else {
                #expect(try client.response()?.text == "body")
                #expect(try client.response()?.text.hasPrefix("GET [\"smuggled\"]") == true)
            }
        }
    }

    @Test func `The absolute form and OPTIONS * are taken`() throws {
        let client = try RawClient(port: server.port)
        try client.send("GET http://h:80/a?b HTTP/1.1\r\nHost: H:80\r\n\r\n")
        #expect(try client.response()?.text.hasPrefix("GET [\"a\"] [\"b=\"]") == true)
        #expect(try client.ask("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")?.text.hasPrefix("OPTIONS [] []") == true)
    }

    @Test func `HTTP/1.0 needs no Host, and HTTP/2 is refused as another protocol (V-154)`() throws {
        let old = try RawClient(port: server.port)
        #expect(try old.ask("GET /a HTTP/1.0\r\n\r\n")?.status == 200)
        #expect(old.isClosedByServer)
        let new = try RawClient(port: server.port)
        #expect(try new.ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?.status == 505)
    }

    private static let chunked = "\(post)Transfer-Encoding: chunked\r\n\r\n"

    /// Found by libmicrohttpd, which has a page of its own for each, or redirects.
    static let ofLibrary: [WrongRequest] = [
        WrongRequest("no version", "GET /a\r\n\r\n"),
        WrongRequest("a word after the version", "GET /a HTTP/1.1 b\r\n\r\n"),
        WrongRequest("a line without a colon", "\(get)no colon\r\n\r\n"),
        WrongRequest("a chunk without a size", "\(chunked)x\r\n\r\n"),
        WrongRequest("another version", "GET /a HTTP/2.0\r\n\r\n", status: 505),
        WrongRequest("a long field", "GET /a HTTP/1.1\r\nX: \(String(repeating: "a", count: 40_000))", status: 431),
        WrongRequest("a long target", "GET /\(String(repeating: "a", count: 40_000))", status: 414),
        WrongRequest("the size of a large chunk", "\(chunked)10000000000000000\r\n\r\n", status: 413),
        WrongRequest(
            "a chunk extension that fills the memory", "\(chunked)1;\(String(repeating: "a", count: 40_000))"),
    ]

    @Test(arguments: ofLibrary)
    func `A request that libmicrohttpd refuses is reported as all problems are`(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        let response = try refusal(wrong.text, by: client)
        #expect(response.status == wrong.status)
        let codes = [
            400: "framing", 413: "body_too_large", 414: "target_too_long", 431: "too_many_fields", 505: "version",
        ]
        #expect(try response.text.contains("request.\(#require(codes[response.status]))"))
        // A wrong head is not known, and with it what the client accepts.
        let isHeadWrong = !wrong.text.hasPrefix(Self.chunked)
        #expect((response.headers["Content-Type"] == "text/plain; charset=utf-8") == isHeadWrong)
        #expect(response.headers["Connection"] == "close")
        #expect(client.isClosedByServer)
    }

    @Test func `A problem is JSON where the head is known, unless text is preferred by name`() throws {
        let client = try RawClient(port: server.port)
        let json = try #require(try client.ask("GET /%2F HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n"))
        #expect(json.headers["Content-Type"] == "application/problem+json")
        #expect(json.text.contains("\"code\":\"request.target\""))
        try client.send("GET /%2F HTTP/1.1\r\nHost: h\r\nAccept: text/plain\r\n\r\n")
        #expect(try client.response()?.headers["Content-Type"] == "text/plain; charset=utf-8")
    }

    /// Wrong in each part of a request, with a text there that no page of the server has.
    static let marked: [WrongRequest] = [
        WrongRequest("the method", "ZQXJKVBQ /a HTTP/1.1\r\nHost: h\r\n\r\n", status: 501),
        WrongRequest("the path", "GET /zqxjkvbq%2F HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("the query", "GET /?zqxjkvbq=%zz HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("the authority", "GET http://zqxjkvbq/a HTTP/1.1\r\nHost: h\r\n\r\n"),
        WrongRequest("the version", "GET /a HTTP/1.1 zqxjkvbq\r\n\r\n"),
        WrongRequest("Host", "GET /a HTTP/1.1\r\nHost: zqxjkvbq/\r\n\r\n"),
        WrongRequest("the name of a field", "\(get)zqxjkvbq : a\r\n\r\n"),
        WrongRequest("the value of a field", "\(get)X: zqxjkvbq\u{1}\r\n\r\n"),
        WrongRequest("a line", "\(get)zqxjkvbq\r\n\r\n"),
        WrongRequest("an expectation", "\(get)Expect: zqxjkvbq\r\n\r\n", status: 417),
        WrongRequest("a coding", "\(post)Transfer-Encoding: zqxjkvbq\r\n\r\n"),
        WrongRequest("the size of a chunk", "\(chunked)zqxjkvbq\r\n\r\n"),
    ]

    @Test(arguments: marked)
    func `No byte of a malformed request is in its refusal (V-117)`(wrong: WrongRequest) throws {
        let client = try RawClient(port: server.port)
        try client.send(wrong.text)
        client.finishSending()
        let answer = String(decoding: try client.rest(), as: UTF8.self)
        #expect(try answer.hasPrefix("HTTP/1.1 \(#require(wrong.status)) "))
        #expect(!answer.lowercased().contains("zqxjkvbq"))
    }

    @Test(arguments: ["h2c", "websocket", "TLS/1.2", "HTTP/2.0, h2c"])
    func `Upgrade and h2c are ignored (V-154)`(protocol name: String) throws {
        let client = try RawClient(port: server.port)
        let fields = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: \(name)\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
        for request in [
            "GET /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n",
            "POST /read HTTP/1.1\r\nHost: h\r\n\(fields)Content-Length: 4\r\n\r\nbody",
        ] {
            let response = try #require(try client.ask(request))
            #expect(response.status == 200, "\(request)")
            #expect(response.headers["Upgrade"] == nil, "\(request)")
        }
        // What follows is HTTP/1.1 as before.
        #expect(try client.get("/next")?.text.hasPrefix("GET [\"next\"]") == true)
    }
}
