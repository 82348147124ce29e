import HTTP
import HTTPServer
import Support
import Testing

/// libmicrohttpd takes all field lines of an answer as one field, whose value it would not take as it is.
@Suite("Field lines arrive as they were written", .timeLimit(.minutes(15)))
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
