import HTTP
import HTTPServer
import Support
import Testing

@Suite("A head has at most 24 KiB, whatever is in it (V-140)", .timeLimit(.minutes(15)))
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
            #expect(answer.text.hasSuffix(" The longest header is \(name). (request.too_many_fields)\n"))
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
