import HTTP
import HTTPServer
import Platform
import Support
import Testing

/// Each of these fails where a libmicrohttpd of another version is not as `internals.h` says.
@Suite("What is done to libmicrohttpd works with the one of this system")
struct LibraryInternalsTests {
    @Test(.disabled(if: isSanitized, "a sanitizer keeps memory of its own"))
    func `An idle connection keeps no room for the longest head`() async {
        // In a process of its own, because other tests take memory meanwhile.
        await #expect(processExitsWith: .success) {
            let server = try HTTPServer(port: 0, handler: EchoHandler())
            let first = try RawClient(port: server.port)
            #expect(try first.get("/")?.status == 200)
            let before = ProcessFacts.residentBytes
            let clients = try (0..<400).map { _ in try RawClient(port: server.port) }
            for client in clients { #expect(try client.get("/")?.status == 200) }
            let kept = (ProcessFacts.residentBytes - before) / clients.count
            #expect(kept < 24 << 10, "\(kept) bytes for each connection")
            withExtendedLifetime((first, clients)) {}
        }
    }

    @Test func `Lines are found in the buffer, and arguments and cookies take no memory of the library`() throws {
        let server = try HTTPServer(port: 0, handler: EchoHandler())
        let client = try RawClient(port: server.port)
        let lines = (1...90).map { "X-\($0): \(String(repeating: "v", count: $0))" }
        let cookie = "Cookie: " + (1...400).map { "c\($0)=1" }.joined(separator: "; ")
        let query = String(repeating: "a&", count: 90)
        let fields = (["Host: h", cookie] + lines).joined(separator: "\r\n")
        for _ in 0..<2 {
            let answer = try #require(try client.ask("GET /a?\(query) HTTP/1.1\r\n\(fields)\r\n\r\n"))
            let heard = answer.text.split(separator: "\n").dropFirst().joined(separator: "\r\n")
            #expect(answer.status == 200 && heard == fields.replacing(": ", with: "="))
        }
        #expect(try client.ask("GET /a HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n")?.status == 400)
    }
}

/// libmicrohttpd takes all field lines of an answer as one field, whose value it would not take as it is.
@Suite("Field lines arrive as they were written")
struct FieldLineTests {
    /// `/n/size` is answered with that many fields, each with a value of that many bytes.
    private struct Fields: RequestHandler {
        func decide(on head: RequestHead) -> Decision {
            let numbers = head.target.path.compactMap { Int($0) }
            let status: Status = head.target.path.last == "none" ? 204 : 200
            let lines = FieldLineTests.fields(numbers[0], numbers[1])
            return .respond(Response(status, headers: lines, body: Array("content".utf8)))
        }
    }

    fileprivate static func fields(_ count: Int, _ size: Int) -> FieldLines {
        var lines = FieldLines()
        for index in 0..<count { lines.append("X-\(index)", String(repeating: "é", count: size / 2) + "\t\(index)") }
        return lines
    }

    @Test(
        "Any number of them, of any length, with and without content, on a connection that is kept or closed",
        arguments: ["GET", "HEAD"], [(0, 0), (1, 0), (1, 2), (7, 30), (40, 20), (2, 1500), (9, 400)])
    func whole(method: String, shape: (count: Int, size: Int)) throws {
        let server = try HTTPServer(port: 0, handler: Fields())
        defer { server.stop(patience: .zero) }
        let client = try RawClient(port: server.port, timeout: 60)
        for (end, close) in [("", ""), ("/none", ""), ("", "Connection: close\r\n")] {
            try client.send("\(method) /\(shape.count)/\(shape.size)\(end) HTTP/1.1\r\nHost: h\r\n\(close)\r\n")
            let answer = try #require(try client.response(to: Method(method)))
            #expect(answer.status == (end.isEmpty ? 200 : 204))
            #expect(answer.headers["Content-Length"] == (end.isEmpty ? "7" : nil))
            #expect(answer.headers["Connection"] == (close.isEmpty ? nil : "close"))
            #expect(answer.headers.values("Date").count == 1)
            var lines = FieldLines()
            for field in answer.headers.fields { lines.append(field.name, field.value) }
            #expect(lines == Self.fields(shape.count, shape.size))
        }
    }
}
