import Glibc
import HTTP
import HTTPServer
import Support
import Testing

/// Requests that fill the memory of a connection in one way, in all sizes around its limit.
@Suite("Whatever fits the header limit is answered or closed at once")
struct AnsweredTests {
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: EchoHandler()) }

    /// How many of something a request has: every number up to 120, then further numbers around the limits.
    static let numbers = Array(1...120) + Array(stride(from: 121, through: 400, by: 7)) + [1000, 2000, 3000, 5000]

    private static func request(_ target: String = "/a", _ fields: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
    }

    private static func chunked(_ chunks: String) -> String {
        "POST /read HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
    }

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    static let shapes: [(name: String, make: @Sendable (Int) -> String)] = [
        ("arguments", { request("/a?" + times($0, "a&")) }),
        ("arguments with values", { request("/a?" + times($0, "a=b&")) }),
        ("arguments after a second question mark", { request("/a??" + times($0, "a&")) }),
        ("arguments after a zero byte", { request("/a\u{0}?" + times($0, "a&")) }),
        ("arguments in HTTP/1.0", { "GET /a?\(times($0, "&a")) HTTP/1.0\r\n\r\n" }),
        ("fields", { request("/a", times($0, "a:\r\n")) }),
        ("fields with values", { request("/a", times($0, "X-Name: some value\r\n")) }),
        ("crumbs of a cookie", { request("/a", "Cookie: \(times($0, "a;"))\r\n") }),
        ("crumbs with values", { request("/a", "Cookie: \(times($0, "a=b; "))\r\n") }),
        ("cookies", { request("/a", times($0, "Cookie: a=b\r\n")) }),
        (
            "arguments, fields and crumbs",
            { count in
                request(
                    "/a?" + times(count, "a&"), times(min(count, 90), "b: c\r\n") + "Cookie: \(times(count, "d;"))\r\n")
            }
        ),
        ("folded lines", { request("/a", "X: a\r\n" + times($0, " b\r\n")) }),
        ("a long field", { request("/a", "X: \(times($0, "abc"))\r\n") }),
        ("a long target", { request("/" + times($0, "abc")) }),
        ("a long method", { times($0, "ABC") + " /a HTTP/1.1\r\nHost: h\r\n\r\n" }),
        ("empty lines first", { times($0, "\r\n") + request() }),
        ("blanks before a value", { request("/a", "X:\(times($0, " "))a\r\n") }),
        ("spaces in the request line", { "GET \(times($0, " "))/a HTTP/1.1\r\nHost: h\r\n\r\n" }),
        ("chunks", { chunked("\(times($0, "1\r\na\r\n"))0\r\n\r\n") }),
        ("a chunk extension", { chunked("1;\(times($0, "abc"))\r\na\r\n0\r\n\r\n") }),
        ("trailers", { chunked("0\r\n\(times($0, "a: b\r\n"))\r\n") }),
        ("a long trailer", { chunked("0\r\nX: \(times($0, "abc"))\r\n\r\n") }),
        ("digits of a chunk's size", { chunked("\(times($0, "0"))1\r\na\r\n0\r\n\r\n") }),
        ("digits of a length", { "POST /read HTTP/1.1\r\nHost: h\r\nContent-Length: \(times($0, "0"))1\r\n\r\na" }),
    ]

    @Test(arguments: shapes.map(\.name))
    func `A request with any number of something is answered or closed`(name: String) throws {
        let shape = try #require(Self.shapes.first { $0.name == name })
        for number in Self.numbers {
            let client = try RawClient(port: server.port, timeout: 60)
            // The server may have answered and closed before all of it was sent.
            do throws(RawClient.Failure) { try client.send(shape.make(number)) } catch {}
            do throws(RawClient.Failure) {
                // An unknown method is 501 (RFC 9110 section 9.1).
                let status = try client.response()?.status ?? 400
                #expect((200...499).contains(status) || status == 501, "\(number) \(name): \(status)")
            } catch {
                Issue.record("\(number) \(name): \(error)")
            }
        }
    }
}

@Suite("A head has at most 24 KiB, whatever is in it (V-140)")
struct HeadLimitTests {
    let server: HTTPServer

    init() throws { server = try HTTPServer(port: 0, handler: EchoHandler()) }

    /// A request whose head has this many bytes, filled by one field, or by a target if there is no name.
    private func request(_ name: String, _ size: Int, value: String = "x", then more: String = "") -> String {
        let (start, end) =
            name.isEmpty
            ? ("GET /", " HTTP/1.1\r\nHost: h\r\n\(more)\r\n")
            : ("GET / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\(name): ", "\r\n\(more)\r\n")
        let room = size - start.utf8.count - end.utf8.count
        return start + String(String(repeating: value, count: room / value.utf8.count + 1).prefix(room)) + end
    }

    @Test(arguments: [("Cookie", "x"), ("Cookie", "a=;"), ("Authorization", "x"), ("X-Any", "a=b, "), ("", "x")])
    func `Its last byte is the limit, on a new connection and on a kept one`(name: String, value: String) throws {
        let client = try RawClient(port: server.port)
        for _ in 1...3 { #expect(try client.ask(request(name, 24_576, value: value))?.status == 200) }
        #expect(try client.ask(request(name, 24_577, value: value))?.status == (name.isEmpty ? 414 : 431))
        #expect(client.isClosedByServer)
    }

    @Test func `A hundred lines share it`() throws {
        let line = "Cookie: " + String(repeating: "a=b; ", count: 46) + "\r\n"
        let head = "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: line, count: 99) + "\r\n"
        #expect((23_000...24_576).contains(head.utf8.count))
        #expect(try RawClient(port: server.port).ask(head)?.status == 200)
    }

    @Test(arguments: ["Cookie", "cookie", "Authorization", "X-Amzn-Trace-Id"], [24_577, 30_000, 36_000, 60_000])
    func `The refusal names the longest field, never its value`(name: String, size: Int) throws {
        for more in ["", "X-After: \(String(repeating: "y", count: 300))\r\n"] {
            let client = try RawClient(port: server.port)
            // The server may close before it has read everything, and a client that goes on writing sees a reset.
            let text = request(name, size, value: "zqxjkvbq=1;", then: more)
            try? client.send(text.utf8.prefix(36_900))
            let answer = try #require(try client.response())
            #expect(answer.status == 431)
            #expect(answer.text.contains(" The longest header is \(name).") && answer.text.contains("too_many_fields"))
            #expect(!answer.text.contains("zqxjkvbq"))
        }
    }

    @Test(arguments: ["X<b>", String(repeating: "N", count: 65), "É"])
    func `A name that could do harm where it is shown is left out`(name: String) throws {
        for size in [25_000, 36_800] {
            let answer = try #require(try RawClient(port: server.port).ask(request(name, size)))
            #expect([400, 431].contains(answer.status))
            #expect(!answer.text.contains(name))
        }
    }
}
